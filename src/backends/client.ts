import { isDeepStrictEqual } from 'node:util';
import type { KeyStyle, JsonValue } from '../events/event.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock } from '../support/clock.ts';
import type { SpanPlace, OpenSpan } from '../tracing/span.ts';
import type { TraceFields } from '../tracing/traceparent.ts';
import { BackendCall } from './call.ts';
import { BackendError, type BackendErrorCode } from './error.ts';
import { FailureLog } from './failure-log.ts';
import { viewerHeaders } from './forward.ts';
import type { ByteSource } from '../support/byte-budget.ts';
import { Limiter } from '../support/limiter.ts';
import { joinPath } from './path.ts';
import { isIdempotent, retryWait } from './retry.ts';
import { lowerCaseNames, type BackendSettings } from './settings.ts';
import { BackendTransport, type HttpRequest } from './transport.ts';
import type { RequestOptions } from '../graph/api/backend.ts';
import { CircuitBreaker, type BreakerState, type Pass } from './circuit-breaker.ts';

export interface BackendServices {
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  /** Bytes that the answers of all back ends may take while they are read and parsed. */
  readonly answers: ByteSource;
  /** Converts the keys of a response. May change the value in place; throws for keys that must not be used. */
  readonly transformKeys: Readonly<Record<KeyStyle, (value: JsonValue) => JsonValue>>;
  /** Whether the gateway records spans: a call without one then tells the back end to record none either. */
  readonly isTraced?: boolean;
}

/** The execution for which a call is made. */
export interface Caller {
  /** Called only for back ends that forward viewer values, since reading the viewer is recorded. */
  viewer(): unknown;
  signal(): AbortSignal | undefined;
  /** The span under which the call is traced; undefined: the call is not sampled. */
  span(): SpanPlace | undefined;
  /** Returns a new header value for each call that is not traced. @param flags last part of the value */
  traceparent(flags: string): string;
}

/** A request as resolvers and loaders pass it. */
interface BackendRequest {
  readonly method: HttpRequest['method'];
  readonly path: string;
  readonly body?: unknown;
  readonly options?: RequestOptions | undefined;
}

const NO_OPTIONS: RequestOptions = {};

/** The longest delay of a timer in Node.js. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Errors that the circuit breaker counts as failures of the back end. */
const BREAKER_FAILURES: ReadonlySet<BackendErrorCode> = new Set([
  'BACKEND_UNAVAILABLE',
  'BACKEND_TIMEOUT',
  'BACKEND_FAILED',
]);

/**
 * One back end, for all executions: its connections, limiter and circuit breaker. A call passes
 *
 *     limiter ──► breaker ──► transport ──fails──► wait, and again from the limiter (idempotent requests only)
 */
export class BackendClient {
  readonly #settings: BackendSettings;
  readonly #services: BackendServices;
  readonly #transport: BackendTransport;
  readonly #limiter: Limiter;
  readonly #breaker: CircuitBreaker;
  readonly #log: Log;
  readonly #failures: FailureLog;
  /**
   * Unsettled calls: those that run, and those that wait for the limiter, for credentials or for their next attempt.
   */
  readonly #calls = new Set<BackendCall>();

  constructor(settings: BackendSettings, services: BackendServices) {
    const now = services.clock.now.bind(services.clock);
    this.#settings = settings;
    this.#services = services;
    this.#transport = new BackendTransport(settings, services.transformKeys, services.answers);
    this.#limiter = new Limiter(settings.maxConcurrency, settings.maxWaiting);
    this.#breaker = new CircuitBreaker({
      failures: settings.breakerFailures,
      openMs: settings.breakerOpenMs,
      now,
      onChange: (state) => this.#onBreakerChange(state),
    });
    this.#log = services.log.child({ backend: settings.name });
    this.#failures = new FailureLog(this.#log, now);
    services.metrics.backendBreakerOpen.set({ backend: settings.name }, 0);
    Object.freeze(this);
  }

  get name(): string {
    return this.#settings.name;
  }

  /** Whether the client has equal settings. Functions are equal only within one load of the graph's code. */
  isOf(settings: BackendSettings): boolean {
    return isDeepStrictEqual(this.#settings, settings);
  }

  /** @throws BackendError, or the error of reading the viewer */
  async request(caller: Caller, request: BackendRequest): Promise<JsonValue> {
    // The viewer is read synchronously and before all else, so that the read is recorded for the calling execution.
    const viewer = this.#settings.forward.length === 0 ? undefined : caller.viewer();
    const { metrics, clock } = this.#services;
    const backend = this.name;
    const begun = clock.now();
    const parent = caller.span();
    const span = beginCall(parent, this.#settings, request.method);
    let outcome = 'ok';
    metrics.backendInFlight.inc({ backend });
    try {
      return await this.#call(caller, request, viewer, (span ?? parent)?.fields ?? this.#untraced(caller));
    } catch (thrown) {
      const error =
        thrown instanceof BackendError
          ? thrown
          : new BackendError('BACKEND_FAILED', backend, { cause: thrown });
      outcome = error.code.slice('BACKEND_'.length).toLowerCase();
      if (error.code !== 'BACKEND_ABORTED') this.#failures.add(error, (span ?? parent)?.loggedIds);
      failCall(span, error);
      throw error;
    } finally {
      metrics.backendInFlight.dec({ backend });
      metrics.backendRequests.inc({ backend, outcome });
      metrics.backendDuration.observe({ backend }, (clock.now() - begun) / 1_000);
      span?.end();
    }
  }

  /** Aborts all calls with BACKEND_ABORTED and closes every connection. */
  async close(): Promise<void> {
    for (const call of this.#calls) call.abort();
    await this.#transport.destroy();
  }

  /** Fields of a call without a span, by which logs of back ends can be correlated. */
  #untraced(caller: Caller): TraceFields {
    return { traceparent: caller.traceparent(this.#services.isTraced === true ? '00' : '01') };
  }

  async #call(
    caller: Caller,
    request: BackendRequest,
    viewer: unknown,
    trace: TraceFields,
  ): Promise<JsonValue> {
    const prepared = this.#prepare(request, viewer);
    if (this.#calls.size >= this.#settings.maxConcurrency + this.#settings.maxWaiting)
      throw this.#overloaded();
    const { method, options = NO_OPTIONS } = request;
    const timeoutMs = options.timeoutMs ?? this.#settings.timeoutMs;
    const call = new BackendCall(this.name, this.#services.clock, timeoutMs, caller.signal());
    this.#calls.add(call);
    try {
      const headers = {
        accept: 'application/json',
        ...(await this.#serviceHeaders(call)),
        ...prepared.headers,
        ...trace,
      };
      const nullIfNotFound = options.nullIfNotFound ?? false;
      const { target, body } = prepared;
      const httpRequest = { method, target, headers, body, nullIfNotFound, keys: options.keys };
      const retries = isIdempotent(method, options.idempotent) ? this.#settings.retries : 0;
      return await this.#withRetries(retries, httpRequest, call);
    } finally {
      this.#calls.delete(call);
      call.end();
    }
  }

  /** @throws BackendError BACKEND_BAD_REQUEST for every fault of the request, before anything is sent */
  #prepare({ path, body, options = NO_OPTIONS }: BackendRequest, viewer: unknown) {
    const { basePath, forward } = this.#settings;
    const { timeoutMs = 1 } = options;
    try {
      if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
        throw new TypeError(`expected timeoutMs from 1 to ${MAX_TIMEOUT_MS}, got ${timeoutMs}`);
      }
      const text = body === undefined ? undefined : JSON.stringify(body);
      if (body !== undefined && text === undefined) throw new TypeError(`expected JSON, got ${typeof body}`);
      const headers = {
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...viewerHeaders(forward, viewer),
        ...(options.headers !== undefined && lowerCaseNames(options.headers)),
      };
      return { target: joinPath(basePath, path, options.query), body: text, headers };
    } catch (cause) {
      throw new BackendError('BACKEND_BAD_REQUEST', this.name, { cause });
    }
  }

  async #serviceHeaders(call: BackendCall): Promise<Readonly<Record<string, string>>> {
    const { headers } = this.#settings;
    if (typeof headers === 'object') return headers;
    try {
      return lowerCaseNames(await call.within(Promise.resolve(headers())));
    } catch (cause) {
      call.signal.throwIfAborted();
      throw new BackendError('BACKEND_UNAVAILABLE', this.name, { cause });
    }
  }

  async #withRetries(retries: number, request: HttpRequest, call: BackendCall): Promise<JsonValue> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(request, call);
      } catch (error) {
        if (attempt >= retries || !(error instanceof BackendError)) throw error;
        const wait = retryWait(error, attempt, this.#services.clock.random());
        if (wait === undefined || this.#breaker.refuses || !(await call.wait(wait))) {
          call.signal.throwIfAborted();
          throw error;
        }
        this.#services.metrics.backendRetries.inc({ backend: this.name });
      }
    }
  }

  async #attempt(request: HttpRequest, call: BackendCall): Promise<JsonValue> {
    if (this.#breaker.refuses) throw this.#refusedByBreaker();
    if (!(await this.#limiter.enter(call.signal))) {
      call.signal.throwIfAborted();
      throw this.#overloaded();
    }
    const pass = this.#breaker.enter();
    if (pass === undefined) {
      this.#limiter.release();
      throw this.#refusedByBreaker();
    }
    const sent = this.#transport.send(request, call.signal);
    try {
      const response = await call.within(sent);
      this.#breaker.succeed(pass);
      return response;
    } catch (error) {
      this.#tellBreaker(pass, error);
      throw error;
    } finally {
      // The slot is released after the breaker has counted the outcome, so that the next waiting call finds the breaker
      // open; and after undici has finished the request, which may be later than the end of the call.
      const release = (): void => this.#limiter.release();
      void sent.then(release, release);
    }
  }

  #tellBreaker(pass: Pass, error: unknown): void {
    const code = error instanceof BackendError ? error.code : undefined;
    if (code === undefined || code === 'BACKEND_ABORTED' || code === 'BACKEND_BAD_REQUEST') {
      this.#breaker.withdraw(pass);
    } else if (BREAKER_FAILURES.has(code)) {
      this.#breaker.fail(pass);
    } else {
      this.#breaker.succeed(pass);
    }
  }

  #overloaded(): BackendError {
    const cause = new Error(`expected at most ${this.#settings.maxWaiting} waiting calls, got one more`);
    return new BackendError('BACKEND_OVERLOADED', this.name, { cause });
  }

  #refusedByBreaker(): BackendError {
    const cause = new Error('the circuit breaker is open; no request was sent');
    return new BackendError('BACKEND_UNAVAILABLE', this.name, { cause });
  }

  #onBreakerChange(state: BreakerState): void {
    this.#services.metrics.backendBreakerOpen.set({ backend: this.name }, state === 'closed' ? 0 : 1);
    if (state === 'open') this.#log.warn('circuit breaker opened: calls fail at once until a trial succeeds');
    if (state === 'closed') this.#log.info('circuit breaker closed: the back end answers again');
  }
}

/**
 * Begins the span of one call, waiting and retries included. It leaves out the path, which may hold ids of customers.
 *
 * @param parent undefined: the call is not sampled
 */
function beginCall(
  parent: SpanPlace | undefined,
  { name, origin }: Pick<BackendSettings, 'name' | 'origin'>,
  method: string,
): OpenSpan | undefined {
  if (parent === undefined) return undefined;
  const { hostname, port, protocol } = new URL(origin);
  return parent.begin(`${method} ${name}`, 'CLIENT', {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    'sluice.backend': name,
  });
}

function failCall(span: OpenSpan | undefined, { code, status }: BackendError): void {
  span?.fail(code);
  if (status !== undefined) span?.note({ 'http.response.status_code': status });
}
