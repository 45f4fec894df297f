import { errors, Pool, type Dispatcher } from 'undici';
import type { JsonValue, KeyStyle } from '../events/event.ts';
import { BackendError, type BackendErrorCode } from './error.ts';
import { retryAfterSeconds } from './retry.ts';
import { readAnswer, type Answer, type AnswerRoom } from './answer.ts';
import type { BackendSettings } from './settings.ts';
import type { ByteSource } from '../support/byte-budget.ts';
import { shortened } from '../support/shortened.ts';
import { Turns, type TurnTaker } from '../support/turns.ts';

/** A response with an error status is read and dropped up to this size; a larger one closes the connection. */
const DUMP_BYTES = 65_536;

/** Longest response that is read for the reason of a refusal. */
const REASON_BYTES = 16_384;

/** Each interim response (1xx) restarts the time for headers, and one read of the socket may hold thousands of them. */
const MOST_INTERIM = 20;

/** One HTTP request, ready to be sent. */
export interface HttpRequest {
  readonly method: 'GET' | 'DELETE' | 'POST' | 'PUT' | 'PATCH';
  /** Path and query, base path included. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON */
  readonly body: string | undefined;
  readonly nullIfNotFound: boolean;
  /** Undefined: as the back end's settings say. */
  readonly keys?: KeyStyle | undefined;
}

/** HTTP to one back end over a pool of keep-alive connections. */
export class BackendTransport {
  readonly #settings: BackendSettings;
  readonly #transformKeys: Readonly<Record<KeyStyle, (value: JsonValue) => JsonValue>>;
  readonly #pool: Pool;
  readonly #bytes: ByteSource;
  /** Spreads parsing over turns of the event loop: large answers that come together would block one turn for long. */
  readonly #turns = new Turns({ msPerSecond: 1_000, now: () => performance.now() });
  readonly #taker: TurnTaker = { spentUntil: 0, hold() {}, resume() {}, overrun() {} };

  /**
   * @param transformKeys convert the keys of a response; each may change the value in place, and throws for unusable keys
   * @param bytes source of the bytes that answers take while they are read and parsed
   */
  constructor(
    settings: BackendSettings,
    transformKeys: Readonly<Record<KeyStyle, (value: JsonValue) => JsonValue>>,
    bytes: ByteSource,
  ) {
    this.#settings = settings;
    this.#bytes = bytes;
    this.#transformKeys = transformKeys;
    this.#pool = new Pool(settings.origin, {
      connections: settings.maxConcurrency,
      connect: { timeout: settings.connectTimeoutMs },
      headersTimeout: settings.headersTimeoutMs,
      bodyTimeout: 0, // BackendCall limits the time of the whole call.
      maxResponseSize: settings.maxResponseBytes,
    });
  }

  /**
   * Sends a request once. An abort while a connection is being made takes effect only once the connection is made.
   *
   * @returns the JSON of the response; null if it is empty
   * @throws BackendError, or the signal's reason
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<JsonValue> {
    const { method, target, headers, body = null } = request;
    let response: Dispatcher.ResponseData;
    let answer: Answer | undefined;
    let reason: string | undefined;
    let interim = 0;
    const onInfo = (): void => {
      interim += 1;
      if (interim > MOST_INTERIM) throw new RangeError(`expected at most ${MOST_INTERIM} interim responses`);
    };
    try {
      response = await this.#pool.request({ method, path: target, headers, body, signal, onInfo });
      if (response.statusCode >= 300) {
        reason = await reasonIn(response, signal);
      } else {
        answer = await readAnswer(response, this.#room, signal);
      }
    } catch (cause) {
      signal.throwIfAborted();
      throw new BackendError(codeOf(cause), this.#settings.name, { cause });
    }
    if (answer !== undefined) {
      return this.#parseInTurn(answer, response.statusCode, request.keys ?? this.#settings.keys, signal);
    }
    if (response.statusCode === 404 && request.nullIfNotFound) return null;
    throw this.#failure(response, reason);
  }

  /** Closes every connection at once. */
  async destroy(): Promise<void> {
    await this.#pool.destroy();
  }

  get #room(): AnswerRoom {
    return { bytes: this.#bytes, owner: this, maxBytes: this.#settings.maxResponseBytes };
  }

  /** Parses at once if this turn of the event loop has time left, else in a later turn. */
  #parseInTurn(
    { text, reserved }: Answer,
    status: number,
    keys: KeyStyle,
    signal: AbortSignal,
  ): Promise<JsonValue> {
    return new Promise((resolve, reject) => {
      this.#turns.run(this.#taker, () => {
        try {
          signal.throwIfAborted();
          resolve(this.#parse(text, status, keys));
        } catch (thrown) {
          reject(thrown as Error);
        } finally {
          reserved.release();
        }
        return 0;
      });
    });
  }

  #parse(text: string, status: number, keys: KeyStyle): JsonValue {
    if (text === '') return null;
    let value: JsonValue;
    try {
      value = JSON.parse(text) as JsonValue;
    } catch {
      // The parser's message is not used: it quotes the response, which must not get into the log.
      const cause = new TypeError(`expected JSON, got ${text.length} characters of something else`);
      throw new BackendError('BACKEND_BAD_RESPONSE', this.#settings.name, { status, cause });
    }
    try {
      return this.#transformKeys[keys](value);
    } catch (cause) {
      throw new BackendError('BACKEND_BAD_RESPONSE', this.#settings.name, { status, cause });
    }
  }

  #failure(
    { statusCode: status, headers }: Dispatcher.ResponseData,
    reason: string | undefined,
  ): BackendError {
    const cause = new Error(
      status < 400
        ? `expected a response, got status ${status}; redirects are not followed`
        : `status ${status}${reason === undefined ? '' : `: ${reason}`}`,
    );
    const retryAfter = retryAfterSeconds(headers['retry-after'], headers['date']);
    return new BackendError(codeOfStatus(status), this.#settings.name, { status, cause, retryAfter });
  }
}

/**
 * Reads the response of a GraphQL server that has refused a request, which says why; any other is dropped.
 *
 * @returns the message of its first error, for the log
 */
async function reasonIn(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  signal: AbortSignal,
): Promise<string | undefined> {
  const length = Number(headers['content-length']);
  const isJson = /^application\/([\w.-]+\+)?json\b/.test(String(headers['content-type']));
  if (statusCode !== 400 || !isJson || !(length <= REASON_BYTES)) {
    await body.dump({ limit: DUMP_BYTES, signal });
    return undefined;
  }
  const text = await body.text();
  try {
    const refused = JSON.parse(text) as { errors?: readonly { message?: unknown }[] };
    const message = refused.errors?.[0]?.message;
    return typeof message === 'string' ? shortened(message, 500) : undefined;
  } catch {
    return undefined;
  }
}

function codeOfStatus(status: number): BackendErrorCode {
  if (status < 400) return 'BACKEND_BAD_RESPONSE';
  if (status === 404) return 'BACKEND_NOT_FOUND';
  if (status === 429) return 'BACKEND_OVERLOADED';
  if (status < 500) return 'BACKEND_REJECTED';
  return status >= 502 && status <= 504 ? 'BACKEND_UNAVAILABLE' : 'BACKEND_FAILED';
}

/** The code for an error that undici throws when there is no response. */
function codeOf(error: unknown): BackendErrorCode {
  if (error instanceof errors.HeadersTimeoutError) return 'BACKEND_TIMEOUT';
  if (error instanceof errors.InvalidArgumentError) return 'BACKEND_BAD_REQUEST';
  if (
    error instanceof RangeError ||
    error instanceof errors.ResponseExceededMaxSizeError ||
    error instanceof errors.HTTPParserError
  ) {
    return 'BACKEND_BAD_RESPONSE';
  }
  return 'BACKEND_UNAVAILABLE';
}
