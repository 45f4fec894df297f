import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { graphFolder } from '../helpers/graph-folder.ts';
import { graphqlClient, Received } from '../helpers/graphql-client.ts';
import { kcat, type Line } from '../helpers/kcat.ts';
import { range } from '../helpers/numbers.ts';

const SCHEMA = path.join(import.meta.dirname, '../../loadtest/graphs/flat/schema.graphql');

const UPDATE = `subscription Update($channel: ID, $tag: String) {
  update(channel: $channel, tag: $tag) { channel seq sent_at body_text }
}`;

const CHANNELS = 5;
/** The whole topic, and two of its channels. */
const WATCHED = [undefined, 'c1', 'c2'];

/** The `seq` of probes, which come before the events that count. */
const PROBE = '0000000000';

interface Update {
  readonly channel: string;
  readonly seq: string;
  readonly sent_at: number;
  readonly body_text: string;
}

/** The load test's own graph, on this topic. */
export async function flatGraph(t: TestContext, topic: string): Promise<string> {
  const schema = await readFile(SCHEMA, 'utf8');
  return graphFolder(t, { 'schema.graphql': schema.replace('topic: "loadtest"', `topic: "${topic}"`) });
}

/** What clients get of events in turn over some channels, and of one that Kafka gets without a key. */
export function updates(count: number): Update[] {
  const keyed = range(0, count).map((n) =>
    updateOf(`c${n % CHANNELS}`, String(Math.floor(n / CHANNELS) + 1).padStart(10, '0')),
  );
  return [...keyed, updateOf('keyless', '0000000001')];
}

const updateOf = (channel: string, seq: string): Update => ({
  channel,
  seq,
  sent_at: 1_795_257_600_000 + Number(seq),
  body_text: `"${seq}" — ✓`,
});

export const linesOf = (all: readonly Update[]): Line[] =>
  all.map(({ channel, seq, sent_at: sentAt, body_text: bodyText }) => ({
    ...(channel !== 'keyless' && { key: channel }),
    value: JSON.stringify({ channel, seq, sentAt, bodyText }),
  }));

/** A subscription that is live. */
export class FlatWatch {
  readonly #channel: string | undefined;
  readonly #received: Received<{ update: Update }>;

  private constructor(client: ReturnType<typeof graphqlClient>, channel: string | undefined) {
    const variables = channel === undefined ? {} : { channel, tag: `tag of ${channel}` };
    this.#channel = channel;
    this.#received = new Received(client, UPDATE, variables);
  }

  /** Servers do not say when they listen to a channel, so events are sent until some arrive. */
  static async start(t: TestContext, topic: string, urls: readonly string[]): Promise<FlatWatch[]> {
    const clients = urls.map((url) => graphqlClient(t, url));
    const watches = clients.flatMap((client) => WATCHED.map((channel) => new FlatWatch(client, channel)));
    const probes = linesOf([updateOf('c1', PROBE), updateOf('c2', PROBE)]);
    await eventually(async () => {
      await kcat(t, topic, probes);
      const isLive = watches.every((watch) => watch.#received.results.length > 0);
      assert.ok(isLive, 'a subscription has brought nothing yet');
    });
    return watches;
  }

  /** It gets the events of its channel, and nothing else; in order, but for an order between channels. */
  async assertGets(all: readonly Update[]): Promise<void> {
    const wanted = all.filter(({ channel }) => this.#channel === undefined || channel === this.#channel);
    const { results } = this.#received;
    while (this.#updates().length < wanted.length) await this.#received.until(results.length + 1);
    assert.deepEqual(byChannel(this.#updates()), byChannel(wanted));
  }

  /** All results but probes. A result that is no update is kept as it is, so that the comparison fails. */
  #updates(): Update[] {
    return this.#received.results
      .map((result) => result.data?.update ?? (result as unknown as Update))
      .filter(({ seq }) => seq !== PROBE);
  }
}

const byChannel = (all: readonly Update[]): Update[] =>
  all.toSorted((one, other) => String(one.channel).localeCompare(String(other.channel)));
