import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kcat, type Line } from '../helpers/kcat.ts';

const SCHEMA = path.join(import.meta.dirname, '../../loadtest/graphs/flat/schema.graphql');

const UPDATE = `subscription Update($channel: ID, $tag: String) {
  update(channel: $channel, tag: $tag) { channel seq sent_at body_text }
}`;

const CHANNELS = 5;
const WATCHED = [undefined, 'c1', 'c2'];

/** The `seq` of probes, which come before the events that count. */
const PROBE = '0000000000';

interface Update {
  readonly channel: string;
  readonly seq: string;
  readonly sent_at: number;
  readonly body_text: string;
}

interface FlatEvent {
  readonly channel: string;
  readonly seq: string;
  readonly sentAt: number;
  readonly bodyText: string;
}

/** What each subscription has brought: by its channel argument, and then by the channel of the events. */
type Watched = Readonly<Record<string, Readonly<Record<string, readonly Update[]>>>>;

/** The load test's own graph, on this topic. */
export async function flatGraph(t: TestContext, topic: string): Promise<string> {
  const schema = await readFile(SCHEMA, 'utf8');
  return graphFolder(t, { 'schema.graphql': schema.replace('topic: "loadtest"', `topic: "${topic}"`) });
}

/** Events in turn over some channels, and one that Kafka gets without a key. */
export function flatLines(count: number): Line[] {
  const keyed = Array.from({ length: count }, (_, index) => {
    const channel = `c${index % CHANNELS}`;
    const seq = Math.floor(index / CHANNELS) + 1;
    return { key: channel, value: flatEvent(channel, String(seq).padStart(10, '0')) };
  });
  return [...keyed, { value: flatEvent('keyless', '0000000001') }];
}

function flatEvent(channel: string, seq: string): string {
  const event: FlatEvent = {
    channel,
    seq,
    sentAt: 1_795_257_600_000 + Number(seq),
    bodyText: `"${seq}" — ✓`,
  };
  return JSON.stringify(event);
}

/** The results that these events must give. */
export function watchedOf(lines: readonly Line[]): Watched {
  const updates = lines.map(({ value }) => {
    const { channel, seq, sentAt, bodyText } = JSON.parse(value) as FlatEvent;
    return { channel, seq, sent_at: sentAt, body_text: bodyText };
  });
  return byWatch((channel) =>
    updates.filter((update) => channel === undefined || update.channel === channel),
  );
}

function byWatch(updatesOf: (channel: string | undefined) => readonly Update[]): Watched {
  return Object.fromEntries(
    WATCHED.map((watch) => {
      const channels: Record<string, Update[]> = {};
      for (const update of updatesOf(watch)) (channels[update.channel] ??= []).push(update);
      return [watch ?? 'all', channels];
    }),
  );
}

/** Subscriptions to the whole topic and to two of its channels, live. */
export class FlatWatch {
  readonly #received: Map<string | undefined, Received<{ update: Update }>>;

  private constructor(received: Map<string | undefined, Received<{ update: Update }>>) {
    this.#received = received;
  }

  /** Servers do not say when they listen to a channel, so events are sent until some arrive. */
  static async start(t: TestContext, topic: string, urls: readonly string[]): Promise<FlatWatch[]> {
    const watches = urls.map((url) => {
      const client = graphqlClient(t, url);
      return new FlatWatch(
        new Map(
          WATCHED.map((channel, index) => {
            const variables = channel === undefined ? {} : { channel, tag: `tag ${index}` };
            return [channel, new Received<{ update: Update }>(client, UPDATE, variables)];
          }),
        ),
      );
    });
    const probes = ['c1', 'c2'].map((channel) => ({ key: channel, value: flatEvent(channel, PROBE) }));
    await eventually(async () => {
      await kcat(t, topic, probes);
      for (const { live } of watches) assert.ok(live, 'a subscription has brought nothing yet');
    });
    return watches;
  }

  get live(): boolean {
    return [...this.#received.values()].every(({ results }) => results.length > 0);
  }

  /** Waits until there are as many results as these events come to. */
  async until(lines: readonly Line[]): Promise<Watched> {
    const expected = watchedOf(lines);
    for (const [channel, received] of this.#received) {
      const wanted = Object.values(expected[channel ?? 'all'] ?? {}).flat().length;
      while (this.#updates(channel).length < wanted) await received.until(received.results.length + 1);
    }
    return byWatch((channel) => this.#updates(channel));
  }

  /** All results but probes. A result that is no update is kept as it is, so that the comparison fails. */
  #updates(channel: string | undefined): Update[] {
    const results = this.#received.get(channel)?.results ?? [];
    return results
      .map((result) => result.data?.update ?? (result as unknown as Update))
      .filter(({ seq }) => seq !== PROBE);
  }
}
