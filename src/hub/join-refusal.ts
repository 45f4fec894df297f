import { GraphQLError } from 'graphql';
import type { Metrics } from '../metrics.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';

/** What all groups of the process hold, and may hold. */
interface Held {
  /** How many more channels may be subscribed to. */
  readonly room: number;
  /** Channels of the plan that are subscribed to already take none. */
  readonly isHeld: (channel: string) => boolean;
  /** Size of all groups' variables. */
  readonly variables: number;
  readonly maxVariables: number;
}

/** Why a new group can't be opened: the process holds as much as it may. Undefined if it can. */
export function groupRefusal(
  plan: SubscriptionPlan,
  { room, isHeld, variables, maxVariables }: Held,
  metrics: Pick<Metrics, 'refused'>,
): GraphQLError | undefined {
  const fresh = room >= plan.channels.length ? 0 : plan.channels.filter((name) => !isHeld(name)).length;
  if (fresh > room) {
    metrics.refused('channels');
    return podFull(`expected at most ${room} more channels in this process, got ${fresh}`);
  }
  if (variables + variablesSize(plan.key) > maxVariables) {
    metrics.refused('variables');
    return podFull('expected variables that this pod has memory for, got more');
  }
  return undefined;
}

/** What an empty object or list takes in memory beyond its text. */
const NESTED_BYTES = 48;

/**
 * About what a subscription's variables take in memory, in bytes.
 *
 * @param key as of `variablesKey`
 */
export function variablesSize(key: string): number {
  let size = key.length;
  for (let index = 0; index < key.length; index += 1) {
    const character = key.charCodeAt(index);
    if (character === OBJECT || character === LIST) size += NESTED_BYTES;
  }
  return size;
}

const OBJECT = '{'.charCodeAt(0);
const LIST = '['.charCodeAt(0);

/** Of a cap that all clients of a pod have in common: the client has done nothing wrong, and may try again. */
export function podFull(message: string): GraphQLError {
  return new GraphQLError(`${message}. Try again later.`, { extensions: { code: 'POD_FULL' } });
}
