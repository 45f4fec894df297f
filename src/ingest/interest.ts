import type { Publisher } from '../events/publisher.ts';
import type { Stream } from '../graph/graph.ts';
import { channelsIn, type RoutedEvent } from './routed-event.ts';

/** The channels of a stream that the bus is asked about. */
interface Asked {
  readonly channels: Set<string>;
  subscribed: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** The answers of the bus to the question which channels of some events may have subscribers. */
export class Interest {
  /** By stream. */
  readonly #asked = new Map<string, Asked>();

  add({ streams, channels }: RoutedEvent): void {
    for (let index = 0; index < streams.length; index += 1) {
      const { name } = streams[index] as Stream;
      let asked = this.#asked.get(name);
      if (asked === undefined) this.#asked.set(name, (asked = { channels: new Set(), subscribed: NONE }));
      for (const channel of channelsIn(channels, streams, index)) asked.channels.add(channel);
    }
  }

  /** @throws the errors of `publisher.subscribed` */
  async ask(publisher: Publisher): Promise<void> {
    for (const [stream, asked] of this.#asked)
      asked.subscribed = await publisher.subscribed(stream, [...asked.channels]);
  }

  /** Whether any of an event's channels may have subscribers. */
  isIn(channels: readonly string[], streams: readonly Stream[]): boolean {
    for (let index = 0; index < streams.length; index += 1) {
      const asked = this.#asked.get(streams[index]?.name ?? '');
      for (const channel of channelsIn(channels, streams, index)) if (isWanted(channel, asked)) return true;
    }
    return false;
  }

  /** Returns the channels of one of the streams that may have subscribers. */
  of(channels: readonly string[], streams: readonly Stream[], index: number): string[] {
    const asked = this.#asked.get(streams[index]?.name ?? '');
    return channelsIn(channels, streams, index).filter((channel) => isWanted(channel, asked));
  }
}

/** An event that was routed by its Kafka key may have further channels, which the bus was not asked about. */
function isWanted(channel: string, asked: Asked | undefined): boolean {
  return asked === undefined || asked.subscribed.has(channel) || !asked.channels.has(channel);
}
