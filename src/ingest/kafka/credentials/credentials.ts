/**
 * How the gateway authenticates itself to brokers, and verifies them, for any Kafka client. A driver asks anew for each
 * connection, and files are read when it asks: a replaced file is in use from the next connection on.
 */
export interface KafkaCredentials {
  /** Undefined: connections without TLS. @throws SluiceError BAD_SETTINGS if a file is not what it must be */
  readonly tls: (() => TlsCredentials) | undefined;
  /** Undefined: connections without SASL. */
  readonly sasl: PasswordCredentials | TokenCredentials | undefined;
}

/** The credentials as Node's `tls.connect` takes them. */
export interface TlsCredentials {
  /** PEM; absent: the authorities that Node.js trusts. */
  readonly ca?: string;
  /** PEM, the client's. */
  readonly cert?: string;
  /** PEM */
  readonly key?: string;
  readonly passphrase?: string;
}

export interface PasswordCredentials {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  /** @throws SluiceError BAD_SETTINGS if its file can't be read, or is empty */
  readonly username: () => string;
  /** @throws SluiceError BAD_SETTINGS if its file can't be read, or is empty */
  readonly password: () => string;
}

export interface TokenCredentials {
  readonly mechanism: 'oauthbearer';
  /** SASL extensions, which go with each token. */
  readonly extensions: Readonly<Record<string, string>>;
  /**
   * Returns a token that is valid for long enough to be worth a connection, if the issuer has told its lifetime.
   *
   * Rejects with TokenUnavailable, or with SluiceError BAD_SETTINGS if a file is not what it must be.
   */
  readonly token: () => Promise<string>;
}
