import { errors, Pool, type Dispatcher } from 'undici';
import type { JsonValue } from '../events/event.ts';
import { BackendError, type BackendErrorCode } from './error.ts';
import { retryAfterSeconds } from './retry.ts';
import type { BackendSettings } from './settings.ts';

/** Of an answer that nobody reads, more than this closes the connection instead of being read to its end. */
const DUMP_BYTES = 65_536;

/** One request as it goes over the wire. */
export interface HttpRequest {
  readonly method: 'GET' | 'DELETE' | 'POST' | 'PUT' | 'PATCH';
  /** Path and query, base path included. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON */
  readonly body: string | undefined;
  readonly nullIfNotFound: boolean;
}

/** HTTP to one back end: a pool of kept connections, and its answers as JSON or as a BackendError. */
export class BackendTransport {
  readonly #settings: BackendSettings;
  readonly #transformKeys: (value: JsonValue) => JsonValue;
  readonly #pool: Pool;

  /** @param transformKeys may change what it is given; throws for what must not be taken in */
  constructor(settings: BackendSettings, transformKeys: (value: JsonValue) => JsonValue) {
    this.#settings = settings;
    this.#transformKeys = transformKeys;
    this.#pool = new Pool(settings.origin, {
      connections: settings.maxConcurrency,
      connect: { timeout: settings.connectTimeoutMs },
      headersTimeout: settings.headersTimeoutMs,
      bodyTimeout: 0, // The call's own time bounds it.
      maxResponseSize: settings.maxResponseBytes,
    });
  }

  /**
   * Sends it once. While a connection is being made an abort is noticed only afterwards.
   *
   * @returns the answer's JSON; null if it is empty
   * @throws BackendError, or the signal's reason
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<JsonValue> {
    const { method, target, headers, body = null } = request;
    let response: Dispatcher.ResponseData;
    let text: string;
    try {
      response = await this.#pool.request({ method, path: target, headers, body, signal });
      if (response.statusCode >= 300) {
        await response.body.dump({ limit: DUMP_BYTES, signal });
        text = '';
      } else {
        text = await response.body.text();
      }
    } catch (cause) {
      signal.throwIfAborted();
      throw new BackendError(codeOf(cause), this.#settings.name, { cause });
    }
    if (response.statusCode < 300) return this.#parse(text, response.statusCode);
    if (response.statusCode === 404 && request.nullIfNotFound) return null;
    throw this.#failure(response);
  }

  /** Closes every connection at once. */
  async destroy(): Promise<void> {
    await this.#pool.destroy();
  }

  #parse(text: string, status: number): JsonValue {
    if (text === '') return null;
    let value: JsonValue;
    try {
      value = JSON.parse(text) as JsonValue;
    } catch {
      // The parser's message quotes the text, which is nobody's business in a log.
      const cause = new TypeError(`expected JSON, got ${text.length} characters of something else`);
      throw new BackendError('BACKEND_BAD_RESPONSE', this.#settings.name, { status, cause });
    }
    try {
      return this.#transformKeys(value);
    } catch (cause) {
      throw new BackendError('BACKEND_BAD_RESPONSE', this.#settings.name, { status, cause });
    }
  }

  #failure({ statusCode: status, headers }: Dispatcher.ResponseData): BackendError {
    const cause = new Error(
      status < 400
        ? `expected an answer, got status ${status}; redirects are not followed`
        : `status ${status}`,
    );
    const retryAfter = retryAfterSeconds(headers['retry-after'], headers['date']);
    return new BackendError(codeOfStatus(status), this.#settings.name, { status, cause, retryAfter });
  }
}

function codeOfStatus(status: number): BackendErrorCode {
  if (status < 400) return 'BACKEND_BAD_RESPONSE';
  if (status === 404) return 'BACKEND_NOT_FOUND';
  if (status === 429) return 'BACKEND_OVERLOADED';
  if (status < 500) return 'BACKEND_REJECTED';
  return status >= 502 && status <= 504 ? 'BACKEND_UNAVAILABLE' : 'BACKEND_FAILED';
}

/** What undici throws when there is no answer. */
function codeOf(error: unknown): BackendErrorCode {
  if (error instanceof errors.HeadersTimeoutError) return 'BACKEND_TIMEOUT';
  if (error instanceof errors.InvalidArgumentError) return 'BACKEND_BAD_REQUEST';
  if (error instanceof errors.ResponseExceededMaxSizeError || error instanceof errors.HTTPParserError) {
    return 'BACKEND_BAD_RESPONSE';
  }
  return 'BACKEND_UNAVAILABLE';
}
