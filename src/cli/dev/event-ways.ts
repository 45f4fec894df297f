import type {
  EventPlace,
  EventTracer,
  HubStep,
  IngestStep,
  TracedError,
  TracedGroup,
} from '../../events/trace.ts';
import { Rate } from '../../support/rate.ts';
import type { GroupWay, RoutedWay, Way } from './way.ts';

interface EventWaysOptions {
  /** Takes the way of an event once the event has ended. */
  readonly onEnd: (way: Way) => void;
  /** Takes an event's way in a group that got the event after its end, from a throttle or by a replay. */
  readonly onLater: (way: Way, group: GroupWay) => void;
  /** Takes the number of events of the last second that are not followed. */
  readonly onSkipped: (count: number) => void;
  /** Whether this process consumes events; if not, only the hub tells of events. */
  readonly ingests: boolean;
  /** How long an event may take from the bus to the hub, ms. */
  readonly lagMs: number;
  /** The most events that are followed in a second. */
  readonly perSecond: number;
  /** Calls back once the hub has taken all messages that the bus has handed over. */
  readonly afterWaiting: (callback: () => void) => void;
  /** ms, of a monotonic clock. */
  readonly now: () => number;
}

interface Followed extends Way {
  /** Whether the process that consumes the event is done with it. */
  isThrough: boolean;
  isEnding: boolean;
  isTold: boolean;
}

/** The most events kept. An event that has ended stays for a while, since a throttle may deliver it later. */
const MAX_FOLLOWED = 1_000;

/** The most errors kept of one group for one event. */
const MAX_ERRORS = 3;

const SKIPPED_PERIOD_MS = 1_000;

/**
 * Joins the steps of each event. An event has ended once it is published, and each group that it was dispatched to has
 * its results. In a flood some events are followed, and all others are counted.
 */
export class EventWays {
  readonly #options: EventWaysOptions;
  readonly #rate: Rate;
  /** The followed events by place, the oldest first. */
  readonly #followed = new Map<string, Followed>();
  /** Places of events that are not followed. */
  readonly #skipped = new Set<string>();

  constructor(options: EventWaysOptions) {
    this.#options = options;
    this.#rate = new Rate(options.perSecond, options.now);
  }

  readonly trace: EventTracer = (step) => {
    if ('record' in step) this.#ingested(step);
    else if ('message' in step) this.#dispatched(step);
  };

  #ingested(step: IngestStep): void {
    if (step.step === 'published' || step.step === 'unsubscribed') {
      this.#through(this.#followed.get(placeText(step.record)));
      return;
    }
    const { record } = step;
    const way = this.#follow(record, record.key === null ? null : record.key.toString());
    if (way === undefined) return;
    if (step.step === 'routed') {
      way.routed = routedWay(step, way.kafkaKey);
      return;
    }
    if (step.step === 'passed_over') way.passedOver = step.reason;
    else way.undecodable = step.error;
    this.#through(way);
  }

  #dispatched(step: HubStep): void {
    // The event that supersedes this one has steps of its own.
    if (isOfConnections(step) || step.step === 'superseded') return;
    const { t: topic, p: partition, o: offset, key } = step.message;
    const place = { topic, partition, offset };
    const known = this.#followed.get(placeText(place));
    const way = known ?? (this.#options.ingests ? undefined : this.#follow(place, key));
    if (way === undefined) return;
    if (step.step === 'duplicate') {
      way.duplicateOn = step.channel;
      return;
    }
    const group = groupWay(way, step.group);
    switch (step.step) {
      case 'held':
        group.isHeld = true;
        group.subscribers = step.subscribers.size;
        break;
      case 'filtered':
        group.subscribers = step.subscribers.size;
        break;
      case 'dispatched':
        group.open += 1;
        group.isHeld = false;
        group.isReplay = step.isReplay;
        group.subscribers += step.subscribers.size;
        group.passing += step.passing.size;
        break;
      case 'executed':
        group.executions += 1;
        for (const error of step.errors ?? []) {
          if (group.errors.length < MAX_ERRORS) group.errors.push(errorText(error));
        }
        break;
      case 'ended':
        group.open -= 1;
        break;
    }
    if (way.isTold) this.#tellLater(way, group);
    else this.#endIfOver(way);
  }

  /** @returns undefined if too many events are followed */
  #follow(place: EventPlace, kafkaKey: string | null): Followed | undefined {
    const text = placeText(place);
    const known = this.#followed.get(text);
    if (known?.isTold === false) return known;
    if (this.#skipped.has(text)) return undefined;
    if (!this.#rate.open) {
      this.#skip(text);
      return undefined;
    }
    this.#rate.take(1);
    const { topic, partition, offset } = place;
    const way: Followed = {
      place: { topic, partition, offset },
      kafkaKey,
      routed: undefined,
      passedOver: undefined,
      undecodable: undefined,
      duplicateOn: undefined,
      groups: new Map(),
      isThrough: !this.#options.ingests,
      isEnding: false,
      isTold: false,
    };
    this.#followed.delete(text);
    this.#followed.set(text, way);
    if (this.#followed.size > MAX_FOLLOWED) this.#dropOldest();
    return way;
  }

  #skip(text: string): void {
    this.#skipped.add(text);
    if (this.#skipped.size > 1) return;
    setTimeout(() => {
      this.#options.onSkipped(this.#skipped.size);
      this.#skipped.clear();
    }, SKIPPED_PERIOD_MS).unref();
  }

  #dropOldest(): void {
    for (const [text, way] of this.#followed) {
      this.#followed.delete(text);
      this.#tell(way);
      return;
    }
  }

  #through(way: Followed | undefined): void {
    if (way === undefined) return;
    way.isThrough = true;
    this.#endIfOver(way);
  }

  #endIfOver(way: Followed): void {
    const { lagMs, afterWaiting } = this.#options;
    if (way.isEnding || !isOver(way)) return;
    way.isEnding = true;
    const end = (): void =>
      afterWaiting(() => {
        way.isEnding = false;
        if (isOver(way)) this.#tell(way);
      });
    if (lagMs === 0) end();
    else setTimeout(end, lagMs).unref();
  }

  #tell(way: Followed): void {
    if (way.isTold) return;
    way.isTold = true;
    this.#options.onEnd(way);
    // An event may have thousands of groups.
    way.groups = new Map();
  }

  #tellLater(way: Followed, group: GroupWay): void {
    if (group.open > 0) return;
    way.groups.delete(group.group);
    if (!this.#rate.open) return;
    this.#rate.take(1);
    this.#options.onLater(way, group);
  }
}

/** Whether a step is one of connections: these steps come after the event has ended, and are not printed. */
function isOfConnections(step: HubStep): step is Extract<HubStep, { step: 'delivered' | 'written' }> {
  return step.step === 'delivered' || step.step === 'written';
}

function isOver({ isThrough, groups }: Followed): boolean {
  return isThrough && [...groups.values()].every(({ open }) => open === 0);
}

function placeText({ topic, partition, offset }: EventPlace): string {
  return `${topic} ${partition}/${offset}`;
}

function routedWay(
  { keys, event, channels }: Extract<IngestStep, { step: 'routed' }>,
  kafkaKey: string | null,
): RoutedWay {
  const valueOf = (key: string) => {
    if (event === undefined) return kafkaKey ?? undefined;
    return Object.hasOwn(event, key) ? event[key] : undefined;
  };
  return { keys: new Map(keys.map((key) => [key, valueOf(key)])), channels };
}

function groupWay({ groups }: Way, group: TracedGroup): GroupWay {
  const known = groups.get(group);
  if (known !== undefined) return known;
  const counts = { subscribers: 0, passing: 0, executions: 0, open: 0 };
  const way: GroupWay = { group, ...counts, errors: [], isHeld: false, isReplay: false };
  groups.set(group, way);
  return way;
}

function errorText({ message, path }: TracedError): string {
  return path === undefined ? message : `${path.join('.')}: ${message}`;
}
