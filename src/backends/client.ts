import type { KeyStyle, JsonValue } from '../events/event.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock } from '../support/clock.ts';
import { BackendCall } from './call.ts';
import { BackendError, type BackendErrorCode } from './error.ts';
import { FailureLog } from './failure-log.ts';
import { viewerHeaders } from './forward.ts';
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
  /** What becomes of an answer's keys; each owns what it is given, and throws for what must not be taken in. */
  readonly transformKeys: Readonly<Record<KeyStyle, (value: JsonValue) => JsonValue>>;
}

/** On whose behalf a call is made. */
export interface Caller {
  /** Asked only by back ends that forward something. */
  viewer(): unknown;
  signal(): AbortSignal | undefined;
  /** A new one for each call. */
  traceparent(): string;
}

/** What a caller asks for. */
interface BackendRequest {
  readonly method: HttpRequest['method'];
  readonly path: string;
  readonly body?: unknown;
  readonly options?: RequestOptions | undefined;
}

const NO_OPTIONS: RequestOptions = {};

/** Timers hold no more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** What says that the back end itself is in trouble. */
const TROUBLE: ReadonlySet<BackendErrorCode> = new Set([
  'BACKEND_UNAVAILABLE',
  'BACKEND_TIMEOUT',
  'BACKEND_FAILED',
]);

/** One back end, for all executions: its connections, limit and breaker, and the way that a call takes through them. */
export class BackendClient {
  readonly #settings: BackendSettings;
  readonly #services: BackendServices;
  readonly #transport: BackendTransport;
  readonly #limiter: Limiter;
  readonly #breaker: CircuitBreaker;
  readonly #log: Log;
  readonly #failures: FailureLog;
  /** Those that are not over, whether they run, wait for their turn, for credentials or for another try. */
  readonly #calls = new Set<BackendCall>();

  constructor(settings: BackendSettings, services: BackendServices) {
    const now = services.clock.now.bind(services.clock);
    this.#settings = settings;
    this.#services = services;
    this.#transport = new BackendTransport(settings, services.transformKeys[settings.keys]);
    this.#limiter = new Limiter(settings.maxConcurrency, settings.maxWaiting);
    this.#breaker = new CircuitBreaker({
      failures: settings.breakerFailures,
      openMs: settings.breakerOpenMs,
      now,
      onChange: (state) => this.#tell(state),
    });
    this.#log = services.log.child({ backend: settings.name });
    this.#failures = new FailureLog(this.#log, now);
    services.metrics.backendBreakerOpen.set({ backend: settings.name }, 0);
  }

  get name(): string {
    return this.#settings.name;
  }

  /** @throws BackendError, or what reading the viewer throws */
  async request(caller: Caller, question: BackendRequest): Promise<JsonValue> {
    // First and in the same turn, so that it counts as read by the execution that asks.
    const viewer = this.#settings.forward.length === 0 ? undefined : caller.viewer();
    const { metrics, clock } = this.#services;
    const backend = this.name;
    const begun = clock.now();
    let outcome = 'ok';
    metrics.backendInFlight.inc({ backend });
    try {
      return await this.#call(caller, question, viewer);
    } catch (thrown) {
      const error =
        thrown instanceof BackendError
          ? thrown
          : new BackendError('BACKEND_FAILED', backend, { cause: thrown });
      outcome = error.code.slice('BACKEND_'.length).toLowerCase();
      if (error.code !== 'BACKEND_ABORTED') this.#failures.add(error);
      throw error;
    } finally {
      metrics.backendInFlight.dec({ backend });
      metrics.backendRequests.inc({ backend, outcome });
      metrics.backendDuration.observe({ backend }, (clock.now() - begun) / 1_000);
    }
  }

  /** Ends what is under way with BACKEND_ABORTED and closes every connection. */
  async close(): Promise<void> {
    for (const call of this.#calls) call.abort();
    await this.#transport.destroy();
  }

  async #call(caller: Caller, question: BackendRequest, viewer: unknown): Promise<JsonValue> {
    const prepared = this.#prepare(question, viewer);
    if (this.#calls.size >= this.#settings.maxConcurrency + this.#settings.maxWaiting)
      throw this.#overloaded();
    const { method, options = NO_OPTIONS } = question;
    const timeoutMs = options.timeoutMs ?? this.#settings.timeoutMs;
    const call = new BackendCall(this.name, this.#services.clock, timeoutMs, caller.signal());
    this.#calls.add(call);
    try {
      const headers = {
        accept: 'application/json',
        ...(await this.#serviceHeaders(call)),
        ...prepared.headers,
        traceparent: caller.traceparent(),
      };
      const nullIfNotFound = options.nullIfNotFound ?? false;
      const request = { method, target: prepared.target, headers, body: prepared.body, nullIfNotFound };
      const retries = isIdempotent(method, options.idempotent) ? this.#settings.retries : 0;
      return await this.#tryUpTo(retries, request, call);
    } finally {
      this.#calls.delete(call);
      call.end();
    }
  }

  /** Whatever can be wrong with the question shows here, before anything is waited for. */
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

  async #tryUpTo(retries: number, request: HttpRequest, call: BackendCall): Promise<JsonValue> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#try(request, call);
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

  async #try(request: HttpRequest, call: BackendCall): Promise<JsonValue> {
    if (this.#breaker.refuses) throw this.#broken();
    if (!(await this.#limiter.enter(call.signal))) {
      call.signal.throwIfAborted();
      throw this.#overloaded();
    }
    const pass = this.#breaker.enter();
    if (pass === undefined) {
      this.#limiter.release();
      throw this.#broken();
    }
    const sent = this.#transport.send(request, call.signal);
    try {
      const answer = await call.within(sent);
      this.#breaker.succeed(pass);
      return answer;
    } catch (error) {
      this.#judge(pass, error);
      throw error;
    } finally {
      // Not before the breaker knows, or the next in turn would not see it open; and not before undici has let go of the
      // request, which may be later than the caller does.
      const release = (): void => this.#limiter.release();
      void sent.then(release, release);
    }
  }

  #judge(pass: Pass, error: unknown): void {
    const code = error instanceof BackendError ? error.code : undefined;
    if (code === undefined || code === 'BACKEND_ABORTED' || code === 'BACKEND_BAD_REQUEST') {
      this.#breaker.withdraw(pass);
    } else if (TROUBLE.has(code)) {
      this.#breaker.fail(pass);
    } else {
      this.#breaker.succeed(pass);
    }
  }

  #overloaded(): BackendError {
    const cause = new Error(`${this.#settings.maxWaiting} calls wait already`);
    return new BackendError('BACKEND_OVERLOADED', this.name, { cause });
  }

  #broken(): BackendError {
    const cause = new Error('not tried, as the circuit breaker is open');
    return new BackendError('BACKEND_UNAVAILABLE', this.name, { cause });
  }

  #tell(state: BreakerState): void {
    this.#services.metrics.backendBreakerOpen.set({ backend: this.name }, state === 'closed' ? 0 : 1);
    if (state === 'open') this.#log.warn('circuit breaker opened: calls fail at once for a while');
    if (state === 'closed') this.#log.info('circuit breaker closed: the back end answers again');
  }
}
