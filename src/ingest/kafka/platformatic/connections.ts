import net from 'node:net';
import {
  Connection,
  TimeoutError,
  type API,
  type ResponseParser,
  type Writer,
  AuthenticationError,
  saslScramSha,
  type SASLOptions,
} from '#@platformatic/kafka';
import type { KafkaConnection } from '../connection.ts';
import type { TlsCredentials, KafkaCredentials, PasswordCredentials } from '../credentials/credentials.ts';
import { NO_TLS, tlsRefusal } from '../credentials/tls-refusal.ts';
import { KafkaError, kafkaError, refusalOf } from './kafka-error.ts';

const SCRAM = { 'scram-sha-256': 'SHA-256', 'scram-sha-512': 'SHA-512' } as const;

/**
 * Asks for secrets during each authentication.
 *
 * @param token of the first authentication, if the mechanism uses tokens
 */
function saslOptions(sasl: NonNullable<KafkaCredentials['sasl']>, token: string | undefined): SASLOptions {
  if (sasl.mechanism === 'oauthbearer') {
    let first = token;
    return {
      mechanism: 'OAUTHBEARER',
      token: async () => {
        const present = first ?? (await sasl.token());
        first = undefined;
        return present;
      },
      oauthBearerExtensions: { ...sasl.extensions },
      // A broker refuses a token in an answer without an error code.
      authBytesValidator: (bytes, callback) =>
        bytes.length === 0 ? callback(null, bytes) : callback(new AuthenticationError(String(bytes))),
    };
  }
  return sasl.mechanism === 'plain'
    ? { mechanism: 'PLAIN', username: sasl.username, password: sasl.password }
    : scram(sasl, SCRAM[sasl.mechanism]);
}

/** If the package can't read an answer, it throws where nothing catches the error, and the process would end. */
function scram({ username, password }: PasswordCredentials, algorithm: 'SHA-256' | 'SHA-512'): SASLOptions {
  return {
    mechanism: `SCRAM-${algorithm}`,
    username,
    password,
    authenticate: (_mechanism, connection, api, _username, _password, _token, callback) => {
      const ask = (...[over, bytes, done]: Parameters<typeof api>): void =>
        api(over, bytes, (error, response) => {
          try {
            done?.(error, response);
          } catch {
            const message = `expected an answer of SCRAM-${algorithm}, got one that can’t be read`;
            callback(new AuthenticationError(message));
          }
        });
      const { authenticate, defaultCrypto } = saslScramSha;
      authenticate(
        Object.assign(ask, api),
        connection,
        algorithm,
        username,
        password,
        defaultCrypto,
        callback,
      );
    },
  };
}

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ConnectionsOptions {
  readonly connection: KafkaConnection;
  /** How long a broker may take to answer. */
  readonly requestTimeoutMs: number;
  /** How long a connection and its authentication may take. @default 3000 */
  readonly connectTimeoutMs?: number;
  /** A broker has answered. */
  readonly onAnswer: () => void;
}

const CONNECT_TIMEOUT_MS = 3_000;

/**
 * One connection to each broker. Kafka answers the requests of a connection in order, so requests that may wait long (a
 * fetch, a join) have their own `Connections`.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<string, Promise<Connection>>();
  /** What ended a connection after it was open: servers of TLS 1.3 refuse a client's certificate only then. */
  readonly #refusals = new WeakMap<Connection, KafkaError>();
  #isClosed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** @throws KafkaError */
  async request<Arguments extends unknown[], Response>(
    to: BrokerAddress,
    doing: string,
    api: API<Arguments, Response>,
    ...args: Arguments
  ): Promise<Response> {
    return this.#answered(to, doing, (connection) => api.async(connection, ...args));
  }

  /** A request whose answer the gateway reads itself. @throws KafkaError */
  async raw<Response>(
    to: BrokerAddress,
    doing: string,
    { key, version }: { readonly key: number; readonly version: number },
    create: () => Writer,
    parse: ResponseParser<Response>,
  ): Promise<Response> {
    const send = (connection: Connection) =>
      new Promise<Response>((resolve, reject) => {
        connection.send<Response>(key, version, create, parse, true, true, (error, answer) =>
          error === null ? resolve(answer as Response) : reject(error),
        );
      });
    return this.#answered(to, doing, send);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(
      open.map((each) => each.then((connection) => connection.close()).catch(() => undefined)),
    );
  }

  async #answered<Response>(
    to: BrokerAddress,
    doing: string,
    send: (connection: Connection) => Promise<Response>,
  ): Promise<Response> {
    const connection = await this.#connectionTo(to, doing);
    await untilAuthenticated(connection);
    try {
      const response = await send(connection);
      this.#options.onAnswer();
      return response;
    } catch (thrown) {
      // The client can't read what comes after the answer to a request that it has given up.
      if (thrown instanceof TimeoutError) void connection.close();
      const error = this.#refusals.get(connection) ?? kafkaError(thrown, doing);
      if (error.codes.length > 0) this.#options.onAnswer();
      throw error;
    }
  }

  #connectionTo(to: BrokerAddress, doing: string): Promise<Connection> {
    const key = `${to.host}:${to.port}`;
    const present = this.#open.get(key);
    if (present !== undefined) return present;
    const forget = (): void => {
      if (this.#open.get(key) === opening) this.#open.delete(key);
    };
    const opening = this.#connect(to, doing, forget);
    this.#open.set(key, opening);
    opening.catch(() => forget());
    return opening;
  }

  async #connect({ host, port }: BrokerAddress, doing: string, onClose: () => void): Promise<Connection> {
    if (this.#isClosed) throw new KafkaError(`${doing}: the client is closed`, { isRetriable: false });
    const { connection: settings, requestTimeoutMs, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#options;
    const { clientId, credentials } = settings;
    const { tls, sasl } = credentials;
    let shown: TlsCredentials = {};
    let connection: Connection | undefined;
    try {
      if (tls !== undefined) shown = tls();
      // The token's source may take longer than a connection, and then the error must name the source.
      const token = sasl?.mechanism === 'oauthbearer' ? await sasl.token() : undefined;
      connection = new Connection(clientId, {
        connectTimeout: connectTimeoutMs,
        requestTimeout: requestTimeoutMs,
        ...(tls && { tls: shown, tlsServerName: net.isIP(host) === 0 }),
        ...(sasl && { sasl: saslOptions(sasl, token) }),
      });
      // A connection that is lost fails its requests, too; without a listener Node.js would end the process.
      const opening = connection;
      connection.on('error', (error) => {
        const refusal = refusedTls(error, opening, shown);
        if (refusal !== undefined) this.#refusals.set(opening, refusal);
        onClose();
      });
      connection.on('close', onClose);
      await connection.connect(host, port);
    } catch (thrown) {
      throw (
        refusedTls(thrown, connection, shown) ??
        refusalOf(thrown, sasl?.mechanism.toUpperCase()) ??
        kafkaError(thrown, doing)
      );
    }
    if (this.#isClosed) await connection.close();
    return connection;
  }
}

/**
 * Resolves at once unless the connection is authenticating again, as it does before its session with the broker ends: a
 * broker closes a connection that sends anything else meanwhile.
 */
async function untilAuthenticated(connection: Connection): Promise<void> {
  while (connection.status === 'reauthenticating') {
    await new Promise<void>((resolve) => {
      const events = ['connect', 'error', 'close'] as const;
      const settle = (): void => {
        for (const event of events) connection.off(event, settle);
        resolve();
      };
      for (const event of events) connection.on(event, settle);
    });
  }
}

function refusedTls(
  thrown: unknown,
  connection: Connection | undefined,
  shown: TlsCredentials,
): KafkaError | undefined {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : undefined;
  const socket = connection?.socket;
  if (cause === undefined || socket === undefined || !('authorizationError' in socket)) return undefined;
  const refusal = tlsRefusal(cause, socket as Parameters<typeof tlsRefusal>[1], shown);
  return refusal === undefined
    ? undefined
    : new KafkaError(`${NO_TLS}${refusal}`, { isRetriable: false, cause });
}
