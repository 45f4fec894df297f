import { Agent, fetch, type Response } from 'undici';
import { readSettingFile } from '../../config/config.ts';
import { certificateIn, secretIn } from '../../config/credential-files.ts';
import type { Config } from '../../config/settings.ts';
import type { Log } from '../../log.ts';
import { issueToken } from '../kafka/credentials/client-credentials.ts';
import { RenewedToken } from '../kafka/credentials/renewed-token.ts';

export type RegistrySettings = Pick<
  Config,
  | 'SCHEMA_REGISTRY_URL'
  | 'SCHEMA_REGISTRY_USERNAME'
  | 'SCHEMA_REGISTRY_PASSWORD'
  | 'SCHEMA_REGISTRY_PASSWORD_FILE'
  | 'SCHEMA_REGISTRY_TOKEN_FILE'
  | 'SCHEMA_REGISTRY_OAUTH_TOKEN_URL'
  | 'SCHEMA_REGISTRY_OAUTH_CLIENT_ID'
  | 'SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET'
  | 'SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET_FILE'
  | 'SCHEMA_REGISTRY_OAUTH_SCOPE'
  | 'SCHEMA_REGISTRY_HEADERS'
  | 'SCHEMA_REGISTRY_CA'
  | 'SCHEMA_REGISTRY_CERT'
  | 'SCHEMA_REGISTRY_KEY'
>;

/** How long an answer may take. */
const TIMEOUT_MS = 30_000;

/** Sends requests to a registry, with credentials and certificates as they are at the time. */
export class RegistryAccess {
  readonly #settings: RegistrySettings;
  readonly #authorization: () => Promise<string | undefined>;
  readonly #headers: Readonly<Record<string, string>>;
  /** The agent that has connections with the certificates of `#certificates`. */
  #agent: Agent | undefined;
  #certificates = '';

  /** @throws SluiceError BAD_SETTINGS if a file is not what it must be */
  constructor(settings: RegistrySettings, log: Log, now: () => number) {
    this.#settings = settings;
    this.#authorization = authorizationOf(settings, log, now);
    this.#headers = Object.fromEntries(
      settings.SCHEMA_REGISTRY_HEADERS.map((pair) => {
        const end = pair.indexOf('=');
        return [pair.slice(0, end), pair.slice(end + 1)];
      }),
    );
    // A wrong mount fails at the start.
    this.#certificatesNow();
  }

  /** @throws the fault of a secret, of the connection or of the answer */
  async get(url: string, signal: AbortSignal): Promise<Response> {
    const authorization = await this.#authorization();
    return fetch(url, {
      dispatcher: this.#agentNow(),
      redirect: 'error',
      headers: {
        accept: 'application/vnd.schemaregistry.v1+json, application/json, */*;q=0.5',
        ...this.#headers,
        ...(authorization !== undefined && { authorization }),
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
  }

  async close(): Promise<void> {
    await this.#agent?.destroy();
  }

  #agentNow(): Agent {
    const certificates = this.#certificatesNow();
    const text = JSON.stringify(certificates);
    if (this.#agent === undefined || text !== this.#certificates) {
      void this.#agent?.close();
      // A request has a connection of its own: its time runs, and a slow answer to another would use it up.
      this.#agent = new Agent({ connect: { ...certificates, timeout: TIMEOUT_MS } });
      this.#certificates = text;
    }
    return this.#agent;
  }

  #certificatesNow(): { ca?: string; cert?: string; key?: string } {
    const { SCHEMA_REGISTRY_CA: ca, SCHEMA_REGISTRY_CERT: cert, SCHEMA_REGISTRY_KEY: key } = this.#settings;
    return {
      ...(ca !== undefined && { ca: certificateIn('SCHEMA_REGISTRY_CA', ca) }),
      ...(cert !== undefined && { cert: certificateIn('SCHEMA_REGISTRY_CERT', cert) }),
      ...(key !== undefined && { key: readSettingFile('SCHEMA_REGISTRY_KEY', key) }),
    };
  }
}

/** @returns a function that returns the header with the present secrets */
function authorizationOf(
  settings: RegistrySettings,
  log: Log,
  now: () => number,
): () => Promise<string | undefined> {
  const {
    SCHEMA_REGISTRY_USERNAME: username,
    SCHEMA_REGISTRY_PASSWORD: password,
    SCHEMA_REGISTRY_PASSWORD_FILE: passwordFile,
    SCHEMA_REGISTRY_TOKEN_FILE: tokenFile,
    SCHEMA_REGISTRY_OAUTH_TOKEN_URL: url,
  } = settings;
  if (username !== undefined) {
    const secret = secretOf(password, 'SCHEMA_REGISTRY_PASSWORD_FILE', passwordFile);
    return async () => `Basic ${Buffer.from(`${username}:${secret()}`).toString('base64')}`;
  }
  if (tokenFile !== undefined) {
    const token = secretOf(undefined, 'SCHEMA_REGISTRY_TOKEN_FILE', tokenFile);
    return async () => `Bearer ${token()}`;
  }
  if (url === undefined) return async () => undefined;
  const client = {
    setting: 'SCHEMA_REGISTRY_OAUTH_TOKEN_URL',
    url,
    clientId: settings.SCHEMA_REGISTRY_OAUTH_CLIENT_ID ?? '',
    clientSecret: secretOf(
      settings.SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET,
      'SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET_FILE',
      settings.SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET_FILE,
    ),
    clientAuth: 'basic' as const,
    scope: settings.SCHEMA_REGISTRY_OAUTH_SCOPE,
    audience: undefined,
    now,
  };
  const token = new RenewedToken({ issue: () => issueToken(client), now, log });
  return async () => `Bearer ${await token.get()}`;
}

/** Reads the file at each call, and once now, as it must not be empty at the start. */
function secretOf(value: string | undefined, setting: keyof Config, file: string | undefined): () => string {
  if (file === undefined) return () => value ?? '';
  secretIn(setting, file);
  return () => secretIn(setting, file);
}
