import type { Headers } from '../events/event.ts';
import type { FakeBackend } from './fake-backends.ts';

export interface TestGatewayOptions {
  /**
   * The viewer of subscriptions and queries that name none, as `authenticate` would return it, which is not called.
   *
   * @default {}
   */
  readonly viewer?: object;
  /** Fakes that answer the calls of the graph's back ends, by the back end's name. */
  readonly backends?: Readonly<Record<string, FakeBackend>>;
  /** Settings, by name and as text: `{ MAX_DEPTH: '5' }`. Settings of ports, Kafka and Redis have no effect. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * The time at the beginning, in ms since 1970. It stands still but for `advance`.
   *
   * @default the present
   */
  readonly now?: number;
}

/** The options of one subscription or query. */
export interface AskOptions {
  /** @default the gateway's viewer */
  readonly viewer?: object;
}

export interface PublishOptions {
  /** The Kafka key. */
  readonly key?: string;
  /** The message's headers, for the graph's own `decode`. A list is a header that repeats. */
  readonly headers?: Headers;
  /**
   * The message's time, in ms since 1970.
   *
   * @default the gateway's time
   */
  readonly timestamp?: number;
}

/** The names of all options: TypeScript sees that none is missing. */
const namesOf = <Options>(names: { readonly [Name in keyof Required<Options>]: true }): string[] =>
  Object.keys(names);

export const TEST_GATEWAY_OPTIONS = namesOf<TestGatewayOptions>({
  viewer: true,
  backends: true,
  settings: true,
  now: true,
});
export const ASK_OPTIONS = namesOf<AskOptions>({ viewer: true });
export const PUBLISH_OPTIONS = namesOf<PublishOptions>({ key: true, headers: true, timestamp: true });

/**
 * Refuses names that would be ignored: a test that expects a refusal would pass for the wrong reason.
 *
 * @param what the names are, for the message
 * @throws TypeError
 */
export function demandKnown(what: string, known: readonly string[], given: object): void {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new TypeError(`expected ${what} (${known.join(', ') || 'none'}), got ${unknown.join(', ')}`);
}
