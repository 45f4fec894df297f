import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { readSettingFile } from '../../config/config.ts';
import { messageOf, SluiceError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../support/clock.ts';

/** The certificate and key of a TLS server. */
export interface KeyPair {
  /** PEM: the server's certificate, then those of authorities in between. */
  readonly cert: string;
  /** PEM */
  readonly key: string;
}

interface CertificateOptions {
  /** The settings `TLS_CERT` and `TLS_KEY`. */
  readonly files: KeyPair;
  /** Gets the time when the certificate expires: seconds since 1970. */
  readonly expires: (at: number) => void;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Log;
}

/** How often the files are checked. Kubernetes takes about a minute to copy a changed secret to a pod's volume. */
const LOOK_MS = 30_000;

/** The certificate of the public port with its key, from files that are read again when they change. */
export class Certificate {
  readonly #options: CertificateOptions;
  #stopping = new AbortController();
  #current: KeyPair;
  /** What is wrong with the files as they are now. */
  #fault: string | undefined;

  /** @throws SluiceError BAD_SETTINGS if the files can't be read, or are not a certificate with its key */
  constructor(options: CertificateOptions) {
    this.#options = options;
    this.#current = read(options.files);
    options.expires(expiryOf(this.#current));
  }

  get current(): KeyPair {
    return this.#current;
  }

  /** @param changed gets each pair that replaces the previous one */
  start(changed: (pair: KeyPair) => void): void {
    this.#stopping = new AbortController();
    void this.#watch(changed, this.#stopping.signal);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #watch(changed: (pair: KeyPair) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#options.clock.sleep(LOOK_MS, signal);
      if (!signal.aborted) this.#look(changed);
    }
  }

  #look(changed: (pair: KeyPair) => void): void {
    const { files, expires, log } = this.#options;
    try {
      const pair = read(files);
      this.#fault = undefined;
      if (pair.cert === this.#current.cert && pair.key === this.#current.key) return;
      this.#current = pair;
      expires(expiryOf(pair));
      changed(pair);
      const { subjectAltName, validTo } = new X509Certificate(pair.cert);
      log.info({ names: subjectAltName, validTo }, 'a new certificate is in use');
    } catch (error) {
      const fault = messageOf(error);
      if (fault !== this.#fault) {
        log.error({ err: error }, `the certificate stays in use that was read before: ${fault}`);
      }
      this.#fault = fault;
    }
  }
}

/** @throws SluiceError BAD_SETTINGS */
function read(files: KeyPair): KeyPair {
  const cert = readSettingFile('TLS_CERT', files.cert);
  const key = readSettingFile('TLS_KEY', files.key);
  try {
    expiryOf({ cert, key });
  } catch (cause) {
    const message = `TLS_CERT: expected a file with a certificate as PEM, got ${files.cert}: ${messageOf(cause)}`;
    throw new SluiceError('BAD_SETTINGS', message, { cause });
  }
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const message = `TLS_KEY: expected a file with the key of the certificate, not encrypted, as PEM, got ${files.key}: ${messageOf(cause)}`;
    throw new SluiceError('BAD_SETTINGS', message, { cause });
  }
  return { cert, key };
}

/** @returns seconds since 1970 */
function expiryOf({ cert }: KeyPair): number {
  return Date.parse(new X509Certificate(cert).validTo) / 1_000;
}
