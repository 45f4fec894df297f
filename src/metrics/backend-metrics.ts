import { MetricsRegistry } from './registry.ts';

/** Metrics of the calls to back ends. */
export class BackendMetrics extends MetricsRegistry {
  readonly backendRequests = this.counter(
    'backend_requests_total',
    'Calls to back ends by outcome; retries are not counted separately',
    ['backend', 'outcome'],
  );
  readonly backendRetries = this.counter('backend_retries_total', 'Retries of calls to back ends', [
    'backend',
  ]);
  readonly backendInFlight = this.gauge(
    'backend_in_flight',
    'Unfinished calls to back ends, waiting ones included',
    ['backend'],
  );
  readonly backendBreakerOpen = this.gauge(
    'backend_breaker_open',
    '1 while the circuit breaker of a back end is open, so that calls fail at once',
    ['backend'],
  );
  readonly backendDuration = this.histogram(
    'backend_duration_seconds',
    'Duration of calls to back ends, waiting and retries included',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ['backend'],
  );
}
