import type { GraphQLError } from 'graphql';
import type { Bus } from '../bus/bus.ts';
import type { Contexts } from '../context/event-scope.ts';
import type { Message } from '../events/message.ts';
import type { Executor } from '../executor/executor.ts';
import type { Graph } from '../graph/graph.ts';
import type { Timers } from '../support/clock.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { GapPolicy } from './gaps.ts';
import type { GroupServices } from './group-services.ts';
import type { HubBytes } from './hub-bytes.ts';
import type { KeptLimits } from './kept-channels.ts';
import type { LastingServices } from './lasting-services.ts';
import type { PlanServices, SubscriptionPlan } from './subscription-plan.ts';

/** The parts of a graph that the hub uses; replaced as a whole. */
export interface HubGraph {
  readonly graph: Pick<Graph, 'bindings' | 'hasResolvers' | 'streams'>;
  readonly contexts: Contexts;
  readonly executor: Pick<Executor, 'subscriptionField' | 'execute' | 'failure' | 'unserialisable'>;
}

interface Arrivals {
  add(message: Message, channel: string, payload: Buffer | string): void;
}

export interface HubOptions
  extends Omit<GroupServices, keyof LastingServices>, PlanServices, HubGraph, KeptLimits {
  readonly graph: HubGraph['graph'];
  /** Without `room`, channels are unlimited; without the last three members, no topic has history. */
  readonly bus: Pick<Bus, 'subscribe' | 'onGap' | 'pause' | 'resume'> &
    Partial<Pick<Bus, 'room' | 'position' | 'readHistory' | 'deletions'>>;
  readonly executor: HubGraph['executor'];
  readonly gapPolicy: GapPolicy;
  /** Default: 64 MB for each. */
  readonly bytes?: HubBytes | undefined;
  /** Undefined: no spans are recorded. */
  readonly tracing?: Tracing | undefined;
  /** Gets each message, once for each channel that carries it. Must not throw. */
  readonly arrivals?: Arrivals | undefined;
  /** Default: the system's. */
  readonly timers?: Timers;
  /** Most that the variables of all groups may take, in bytes. Default: no limit. */
  readonly maxVariables?: number;
  /** Most that the documents of all groups may take, in bytes. Default: no limit. */
  readonly maxDocuments?: number;
}

/** Whether a subscriber may have a subscription: the error, if not. */
export type Admits = (plan: SubscriptionPlan) => GraphQLError | undefined;

/** How a subscriber joins. */
export interface JoinOptions {
  /** The client whose shares of the pod the subscriber takes, if it is known: see ClientShares. */
  readonly client?: string | undefined;
  /** Called when the subscriber's plan is known. */
  readonly admits?: Admits;
  /** Called if the viewer may not hold the subscription. */
  readonly refused?: (plan: SubscriptionPlan, error: GraphQLError) => void;
  /**
   * Called with the channels whose messages are kept from now on because of this subscriber.
   *
   * @param ms how long they count after the pod has left them
   */
  readonly keeps?: (channels: readonly string[], ms: number) => void;
  /** The client wants to resume later, from the cursor that it sends, or null. Absent: it does not. */
  readonly cursor?: unknown;
}
