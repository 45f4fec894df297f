import type { TopicName } from '../world/graph.ts';

/** One thing that goes wrong, as it is drawn from the seed. It rights itself after its time. */
export type Fault = FaultOf & {
  /** ms after the first event */
  readonly atMs: number;
};

interface Lasting {
  readonly forMs: number;
}

/** Which pod, by number: at its time, of those that live. */
interface OfPod {
  readonly pod: number;
}

type FaultOf =
  | ({ readonly kind: 'redis-crash'; readonly keepsData: boolean; readonly silent: boolean } & Lasting)
  | ({
      readonly kind: 'failover';
      /** How far the replica is behind. */
      readonly lagMs: number;
      /** Whether the old master goes on as one for a while, and is then made a replica; or is gone, and comes back as one. */
      readonly oldMaster: 'alive' | 'dead';
      /** Whether its clients are disconnected when it is made a replica. */
      readonly kicksClients: boolean;
    } & Lasting)
  /** The slot of the topic goes to another node, key by key; of a cluster. */
  | ({ readonly kind: 'slot-moves'; readonly topic: TopicName } & Lasting)
  | { readonly kind: 'kill-listeners' }
  | { readonly kind: 'kill-publishers' }
  | ({ readonly kind: 'busy'; readonly probability: number } & Lasting)
  | ({ readonly kind: 'no-memory' } & Lasting)
  | ({ readonly kind: 'not-permitted'; readonly command: string } & Lasting)
  | ({ readonly kind: 'slow-link'; readonly latencyMs: number } & Lasting & OfPod)
  | ({ readonly kind: 'blocked-link' } & Lasting & OfPod)
  | ({ readonly kind: 'broken-listener' } & OfPod)
  | ({ readonly kind: 'broken-publisher' } & OfPod)
  | ({ readonly kind: 'half-open-listener' } & OfPod)
  | ({ readonly kind: 'half-open-publisher'; readonly direction: 'to' | 'from' | 'both' } & OfPod)
  | ({ readonly kind: 'frozen-pod' } & Lasting & OfPod)
  | ({ readonly kind: 'killed-pod'; readonly silently: boolean } & Lasting & OfPod)
  | ({ readonly kind: 'rolled-pod' } & OfPod)
  /** A pod of a version that knows no history takes part for a while. */
  | ({ readonly kind: 'older-pod' } & Lasting)
  /** The process stands still, and goes on after that with what it was sent. */
  | ({ readonly kind: 'redis-frozen' } & Lasting)
  | {
      readonly kind: 'evicted';
      readonly topic: TopicName;
      readonly what: 'list' | 'state' | 'version';
      /** Which of its lists. */
      readonly list: number;
    }
  /** The client that has this number connects again after a while. */
  | ({ readonly kind: 'cut-client'; readonly client: number } & Lasting)
  /** All clients are cut at once, and connect again at once. */
  | ({ readonly kind: 'storm' } & Lasting)
  | ({ readonly kind: 'brokers-away' } & Lasting)
  | ({ readonly kind: 'cut-off-from-kafka' } & Lasting & OfPod)
  | { readonly kind: 'more-partitions'; readonly topic: TopicName; readonly count: number }
  | { readonly kind: 'topic-made-anew'; readonly topic: TopicName; readonly partitions: number };

export type FaultKind = Fault['kind'];
