import type { Headers } from '../events/event.ts';
import type { FakeBackend } from './fake-backends.ts';

export interface TestGatewayOptions {
  /**
   * Who subscribes and queries, unless it is said there: what `authenticate` would return, which is not called.
   *
   * @default {}
   */
  readonly viewer?: object;
  /** By name of a back end of the graph: what answers its calls. */
  readonly backends?: Readonly<Record<string, FakeBackend>>;
  /** Settings, by name and as text: `{ MAX_DEPTH: '5' }`. Those of ports, Kafka and Redis have no effect. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * The time at the beginning, in ms since 1970. It stands still but for `advance`.
   *
   * @default the present
   */
  readonly now?: number;
}

/** Of one subscription or query. */
export interface AskOptions {
  /** @default that of the gateway */
  readonly viewer?: object;
}

export interface PublishOptions {
  /** The Kafka key. */
  readonly key?: string;
  /** The message's headers, for a `decode` of the graph's own. A list is a header that repeats. */
  readonly headers?: Headers;
  /**
   * The message's time, in ms since 1970.
   *
   * @default that of the gateway
   */
  readonly timestamp?: number;
}
