import { REFUSALS, type RefusalReason } from './support/refusal.ts';
import { eventLoopUtilization, heapLimit } from './process-metrics.ts';
import { LoopUtilization } from './support/loop-utilization.ts';
import { MetricsRegistry } from './metrics/registry.ts';

/** Metrics of the calls to back ends. */
class BackendMetrics extends MetricsRegistry {
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

/**
 * All metrics of the gateway itself: name, help, labels. Counters on the way of an event are increased once per group
 * or batch, never per delivery.
 */
export class Metrics extends BackendMetrics {
  readonly connections = this.gauge('connections', 'WebSocket connections open');
  readonly certificateExpires = this.gauge(
    'tls_certificate_expires_seconds',
    'When the certificate of the public port expires, in seconds since 1970; 0 without one',
    [],
    'min',
  );
  readonly subscribers = this.gauge('subscribers', 'Subscribers whose channels the bus has acknowledged');
  readonly groups = this.gauge('groups', 'Groups: distinct document, operation and variables');
  readonly channels = this.gauge(
    'channels',
    'Channels this pod is subscribed to on the bus, lingering ones included',
  );
  readonly backlog = this.gauge('backlog', 'Messages from the bus that wait for a turn of the event loop');
  readonly reservedBytes = this.gauge(
    'reserved_bytes',
    'Bytes reserved for what others send, by source: bodies of requests, histories that are read, records of Kafka',
    ['source'],
  );
  readonly reservationsWaiting = this.gauge(
    'reservations_waiting',
    'Requests, reads and consumers that wait until bytes can be reserved for them',
    ['source'],
  );
  readonly events = this.counter(
    'events_total',
    'Messages consumed, those that were skipped or could not be decoded included',
    ['topic'],
  );
  readonly publishes = this.counter(
    'publishes_total',
    'Messages published and acknowledged: one for each channel of an event',
  );
  readonly messages = this.counter(
    'messages_total',
    'Messages that came over the bus: one for each channel of an event that this pod listens to',
  );
  readonly executions = this.counter('executions_total', 'GraphQL executions of subscription events');
  readonly replayExecutions = this.counter(
    'replay_executions_total',
    'GraphQL executions for subscribers that have missed the event: part of executions_total',
  );
  readonly deliveries = this.counter('deliveries_total', 'Results put into the send queues of subscribers');
  readonly deadLetters = this.counter('dead_letters_total', 'Messages that could not be decoded', [
    'topic',
    'reason',
  ]);
  readonly positionResets = this.counter(
    'position_resets_total',
    'Positions in Kafka that were not in the log, and were moved to its beginning, to its end, or to where it differs from what was consumed',
    ['topic', 'to'],
  );
  readonly topicMissing = this.gauge(
    'topic_missing',
    'Whether Kafka has no such topic, or does not let the gateway see it: 1 or 0',
    ['topic'],
  );
  readonly foreignPositions = this.gauge(
    'foreign_positions',
    'Positions of the consumer group, at the last look, that pods of another bus have committed, or that name none',
    ['bus'],
  );
  readonly badBatches = this.counter(
    'bad_batches_total',
    'Record batches that could not be decoded, with all messages in them',
    ['topic'],
  );
  readonly badPartitions = this.gauge(
    'bad_partitions',
    'Partitions that are stopped by a record batch that can not be decoded',
    ['topic'],
  );
  readonly duplicates = this.counter(
    'duplicates_total',
    'Messages dropped as repetitions: in their partition, leader epoch and offset were not after those of an earlier one',
  );
  readonly skippedMessages = this.counter(
    'skipped_messages_total',
    'Messages from the bus that were skipped',
    ['reason'],
  );
  readonly busOutages = this.counter(
    'bus_outages_total',
    'Times that this pod lost its subscriptions to Redis: it missed events that other pods published meanwhile',
  );
  readonly redisNotMaster = this.counter(
    'redis_not_master_total',
    'Times that Redis turned out to be a replica: nothing is published to it, and the pod connects again',
  );
  readonly resumes = this.counter(
    'resumes_total',
    'Subscriptions begun by clients that resume: new ones, those that lack nothing since their cursors (recovered), and those that may (lost)',
    ['outcome'],
  );
  readonly gaps = this.counter(
    'gaps_total',
    'Times that subscribers of this pod may have missed events of a topic',
    ['topic'],
  );
  readonly missedRead = this.counter(
    'missed_read_total',
    'Times that what this pod had missed of a topic without history was read from Kafka again',
    ['topic'],
  );
  readonly busConnected = this.gauge(
    'bus_connected',
    '1 while a connection to Redis can be used: for publishing, or for listening',
    ['connection'],
    'min',
  );
  readonly kafkaConnected = this.gauge(
    'kafka_connected',
    '1 while a Kafka broker has answered within KAFKA_SESSION_TIMEOUT_MS',
    [],
    'min',
  );
  readonly partitionsAssigned = this.gauge('partitions_assigned', 'Kafka partitions that this pod consumes');
  readonly kafkaLag = this.gauge(
    'kafka_lag',
    'Messages that are yet to be consumed, of the partitions of this pod',
    ['topic'],
  );
  readonly kafkaLagSeconds = this.gauge(
    'kafka_lag_seconds',
    'Age of the oldest message that is yet to be consumed, of the partitions of this pod; 0 if there is none',
    ['topic'],
    'max',
  );
  readonly tombstones = this.counter(
    'tombstones_total',
    "Messages without a value, Kafka's mark for a deleted key: they are no events, but noted for replays",
    ['topic'],
  );
  readonly schemaRequests = this.counter(
    'schema_requests_total',
    'Requests to the schema registry for schemas, by outcome: found, not_found, failed',
    ['outcome'],
  );
  readonly staleEvents = this.counter(
    'stale_events_total',
    'Events skipped as older than EVENT_MAX_AGE_SECONDS',
    ['topic'],
  );
  readonly unsubscribedEvents = this.counter(
    'unsubscribed_events_total',
    'Events that were not published, as no pod was subscribed to any of their channels',
    ['topic'],
  );
  readonly missingKeys = this.counter(
    'missing_keys_total',
    'Events that lack a field by which subscriptions pick them',
    ['topic', 'field'],
  );
  readonly kafkaKeyMismatches = this.counter(
    'kafka_key_mismatches_total',
    'Events of keyFrom: KAFKA_KEY whose Kafka key differs from the value in the event',
    ['topic'],
  );
  readonly filtered = this.counter(
    'filtered_total',
    'Events that a @filter rejected for all subscribers of a group',
  );
  readonly throttledEvents = this.counter(
    'throttled_events_total',
    'Events that a group left out, as a later one of the same key came in the same interval of throttleMs',
  );
  readonly leftOutResults = this.counter(
    'left_out_results_total',
    'Results that were left out, as their sockets were slow: see onSlow',
  );
  readonly executionTimeouts = this.counter(
    'execution_timeouts_total',
    'Executions aborted after EXECUTE_TIMEOUT_MS',
  );
  readonly resolverErrors = this.counter(
    'resolver_errors_total',
    'Errors of fields, once for each execution: code INTERNAL_SERVER_ERROR for faults, else that of the GraphQLError',
    ['field', 'code'],
  );
  readonly unsharedExecutions = this.counter(
    'unshared_executions_total',
    'Executions of an event that were needed only because viewers differ at this path',
    ['field', 'path'],
  );
  readonly groupOverflows = this.counter(
    'group_overflows_total',
    'Events that subscribers of a group skipped because MAX_WAITING_EVENTS were waiting for them already',
  );
  readonly refusedOperations = this.counter(
    'refused_operations_total',
    'Operations refused as past a limit on what one may ask for',
    ['code'],
  );
  readonly heldConnections = this.counter(
    'held_connections_total',
    'Times that a connection was not read for a while, as its messages had to wait for their turn',
  );
  readonly closes = this.counter('closes_total', 'WebSocket connections closed by the gateway', [
    'code',
    'reason',
  ]);
  readonly refusals = this.counter(
    'refusals_total',
    'Connections, requests and operations refused, by the cap that was reached or another reason',
    ['reason'],
  );
  readonly revocations = this.counter(
    'revocations_total',
    'Revocations that this process has heard of, each once',
  );
  readonly jwksFailures = this.counter(
    'jwks_failures_total',
    'Times that the keys of AUTH_JWKS_URL could not be fetched',
  );
  readonly pressureLevel = this.gauge(
    'pressure_level',
    '0: none; from 1 on new connections are refused, from 2 on nothing is consumed, at 3 sockets are shed',
    [],
    'max',
  );
  readonly pressure = this.gauge(
    'pressure',
    'Share of its limit that is in use: heap, memory, bytes that wait for sockets, delay of the event loop',
    ['source'],
    'max',
  );
  readonly consumerRestarts = this.counter('consumer_restarts_total', 'Restarts of crashed Kafka consumers');
  readonly workers = this.gauge('workers', 'Worker processes; 0 in a pod of one process');
  readonly workerRestarts = this.counter(
    'worker_restarts_total',
    'Worker processes started in place of one that ended by itself',
  );
  readonly graphReloads = this.counter('graph_reloads_total', 'Reloads of the graph', ['outcome']);
  readonly eventDelay = this.histogram(
    'event_delay_seconds',
    'Time from consuming an event to writing it to the sockets, once per group and event',
    [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    [],
    this.hasExemplars,
  );
  readonly eventAge = this.histogram(
    'event_age_seconds',
    'Time from writing an event to Kafka to writing it to the sockets, once per group and event',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800],
  );
  readonly publishDuration = this.histogram(
    'publish_seconds',
    'Time that the bus took to acknowledge up to 500 events',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  );
  readonly loopUtilization = eventLoopUtilization(this.registry, new LoopUtilization());
  readonly heapLimit = heapLimit(this.registry);

  /**
   * In a process that consumes nothing, some metrics have no series: alerts would take 0 for a fault.
   *
   * @param hasExemplars whether the histogram of event delays names traces
   */
  constructor(hasExemplars = false) {
    super(hasExemplars);
    this.kafkaConnected.remove();
    this.partitionsAssigned.remove();
    // Each reason starts at 0: otherwise Prometheus would see no increase at the first refusal.
    for (const reason of REFUSALS) this.refusals.inc({ reason }, 0);
  }

  /**
   * Called when an event has been written to the sockets of a group.
   *
   * @param age undefined if it is not known
   * @param trace labels of the exemplar, if the event is traced
   */
  observeEvent(delay: number, age: number | undefined, trace: object = {}): void {
    if (this.hasExemplars) {
      this.eventDelay.observe({ value: delay, exemplarLabels: trace } as Parameters<
        typeof this.eventDelay.observe
      >[0]);
    } else {
      this.eventDelay.observe(delay);
    }
    if (age !== undefined) this.eventAge.observe(age);
  }

  /** Counts a refused connection, request or operation. */
  refused(reason: RefusalReason): void {
    this.refusals.inc({ reason });
  }
}
