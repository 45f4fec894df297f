import { Random } from '../../helpers/random.ts';
import type { TopicName } from '../world/graph.ts';
import { BUSY_MS, CHANNELS, type Plan } from './plan.ts';

type OfKeys = Pick<Plan, 'tombstones' | 'events' | 'subscriptions' | 'clients'>;

const SEEDS_WITH = 0.4;

const TOPICS: readonly TopicName[] = ['news', 'bids'];

/**
 * Deletions of keys. If all of a topic is kept, adds events before a deletion, and a subscription after it that begins
 * with the last events. Has its own random numbers, so that other parts of plans stay as they are.
 */
export function drawTombstones(seed: number, pods: number, histories: Plan['histories']): OfKeys {
  const random = Random.of(seed, 'tombstones');
  const drawn = { tombstones: [], events: [], subscriptions: [], clients: [] } as {
    -readonly [List in keyof OfKeys]: OfKeys[List][number][];
  };
  if (!random.chance(SEEDS_WITH)) return drawn;
  for (let count = random.between(1, 4); count > 0; count -= 1) {
    const key = { topic: random.pick(TOPICS), channel: random.pick(CHANNELS) };
    const atMs = random.next() * BUSY_MS;
    drawn.tombstones.push({ ...key, atMs });
    if (histories[key.topic]?.keepsAll !== true) continue;
    for (let events = random.between(1, 4); events > 0; events -= 1) {
      const beforeMs = (random.next() - 0.1) * random.pick([20, 500, 5_000]);
      drawn.events.push({ ...key, atMs: Math.max(0, atMs - beforeMs), malformed: false });
    }
    const asked = {
      topic: key.topic,
      field: key.topic === 'news' ? ('lastNews' as const) : ('lastBids' as const),
      channels: random.chance(0.6) ? [key.channel] : undefined,
      atMs: atMs + random.next() * random.pick([20, 500, 5_000]),
    };
    if (random.chance(0.5)) drawn.clients.push({ ...asked, takesMs: 0 });
    else drawn.subscriptions.push({ ...asked, pod: random.between(0, pods - 1), staysMs: undefined });
  }
  return drawn;
}
