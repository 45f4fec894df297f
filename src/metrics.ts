import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Every metric of the gateway itself, once: name, help, labels. A gateway has a registry of its own, so that several
 * can live in one process (tests do that). Counters on the way of an event are raised by a number, once per group or
 * batch, never once per delivery.
 */
export class Metrics {
  readonly registry = new Registry();

  readonly connections = this.#gauge('connections', 'WebSocket connections open');
  readonly subscribers = this.#gauge('subscribers', 'Subscribers whose channels the bus has acknowledged');
  readonly groups = this.#gauge('groups', 'Groups: distinct document, operation and variables');
  readonly channels = this.#gauge(
    'channels',
    'Channels this pod is subscribed to on the bus, lingering ones included',
  );
  readonly events = this.#counter('events_total', 'Events consumed', ['topic']);
  readonly publishes = this.#counter('publishes_total', 'Messages published to the bus and acknowledged');
  readonly executions = this.#counter('executions_total', 'GraphQL executions of subscription events');
  readonly deliveries = this.#counter('deliveries_total', 'Results handed to subscribers');
  readonly deadLetters = this.#counter('dead_letters_total', 'Messages that could not be decoded', [
    'topic',
    'reason',
  ]);
  readonly duplicates = this.#counter(
    'duplicates_total',
    'Messages dropped because they had been seen before',
  );
  readonly skippedMessages = this.#counter(
    'skipped_messages_total',
    'Messages from the bus that were skipped',
    ['reason'],
  );
  readonly staleEvents = this.#counter(
    'stale_events_total',
    'Events skipped as older than EVENT_MAX_AGE_SECONDS',
    ['topic'],
  );
  readonly filtered = this.#counter('filtered_total', 'Events that a @filter kept from a group');
  readonly groupOverflows = this.#counter(
    'group_overflows_total',
    'Events that a group skipped because too many were waiting to be executed',
  );
  readonly closes = this.#counter('closes_total', 'WebSocket connections closed by the gateway', ['code']);
  readonly consumerRestarts = this.#counter(
    'consumer_restarts_total',
    'Kafka consumers started anew after a crash',
  );
  readonly eventDelay = new Histogram({
    name: 'sluice_event_delay_seconds',
    help: 'From consumed to handed to the sockets, once per group and event',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.registry],
  });

  /** Adds what prom-client knows of the process: memory, CPU, loop delay, garbage collection. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({ name: `sluice_${name}`, help, registers: [this.registry] });
  }

  #counter<Label extends string = never>(
    name: string,
    help: string,
    labelNames: Label[] = [],
  ): Counter<Label> {
    return new Counter({ name: `sluice_${name}`, help, labelNames, registers: [this.registry] });
  }
}
