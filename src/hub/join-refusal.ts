import { GraphQLError } from 'graphql';
import type { Metrics } from '../metrics.ts';
import { beyondShareText, type ClientShares } from '../support/client-shares.ts';
import type { HeldDocuments } from './held-documents.ts';
import type { HubChannels } from './hub-channels.ts';
import type { SubscriptionPlan } from './subscription-plan.ts';

/** What all groups of the process hold, and may hold. */
interface Held {
  readonly channels: Pick<HubChannels, 'room' | 'roomOf' | 'neededFor'>;
  /** Size of all groups' variables. */
  readonly variables: number;
  readonly maxVariables: number;
  readonly shares: Pick<ClientShares, 'roomOf'>;
  readonly documents: Pick<HeldDocuments, 'isTooMuch' | 'isBeyondShare'>;
}

/**
 * Why a new group can't be opened: the process, or the client in it, has reached a limit. Undefined if it can.
 *
 * @param client see JoinOptions
 */
export function groupRefusal(
  plan: SubscriptionPlan,
  client: string | undefined,
  { channels, variables, maxVariables, shares, documents }: Held,
  metrics: Pick<Metrics, 'refused'>,
): GraphQLError | undefined {
  const own = channels.roomOf(client);
  const count = plan.channels.length;
  if (count > own.channels || count > own.kept) {
    const { room } = channels;
    const needed = channels.neededFor(plan);
    if (needed.channels > room.channels) {
      metrics.refused('channels');
      return podFull(
        `expected at most ${room.channels} more channels in this process, got ${needed.channels}`,
      );
    }
    if (needed.kept.length > room.kept) {
      metrics.refused('channels');
      return podFull(
        `expected at most ${room.kept} more channels with history in this process, those included that it has left and whose history is kept, got ${needed.kept.length}`,
      );
    }
    if (needed.channels > own.channels || needed.kept.length > own.kept) {
      return beyondShare('channels', metrics);
    }
  }
  const size = variablesSize(plan.key);
  if (variables + size > maxVariables) {
    metrics.refused('variables');
    return podFull('expected variables that this pod has memory for, got more');
  }
  if (size > shares.roomOf(client, maxVariables - variables)) return beyondShare('variables', metrics);
  if (documents.isTooMuch(plan.operation)) {
    metrics.refused('documents');
    return podFull('expected a document that this pod has memory for, or that is in use, got another');
  }
  if (documents.isBeyondShare(plan.operation, client)) return beyondShare('documents', metrics);
  return undefined;
}

/**
 * The error for a client that has used up its share, while the pod still has room for others.
 *
 * @param what there is room for
 */
export function beyondShare(what: string, metrics: Pick<Metrics, 'refused'>): GraphQLError {
  metrics.refused('share_of_client');
  return podFull(beyondShareText(what));
}

/** What an empty object or list takes in memory beyond its text. */
const NESTED_BYTES = 48;

/**
 * Estimates the memory of a subscription's variables, in bytes.
 *
 * @param key made by `variablesKey`
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

/** The error for a cap that all clients of a pod share: the client has done nothing wrong, and may try again. */
export function podFull(message: string): GraphQLError {
  return new GraphQLError(`${message}. Try again later.`, { extensions: { code: 'POD_FULL' } });
}
