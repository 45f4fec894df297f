import { GraphQLError } from 'graphql';
import { beyondShare, podFull, variablesSize } from '../../hub/join-refusal.ts';
import type { SubscriptionPlan } from '../../hub/subscription-plan.ts';
import type { Metrics } from '../../metrics.ts';
import { Deadlines } from '../../support/deadlines.ts';
import type { RefusalReason } from '../../support/refusal.ts';
import { CausedChannels, type CausedChannel } from './caused-channels.ts';
import { tooManyOperations } from '../too-many-operations.ts';
import type { PodTally, Tally } from './viewers.ts';

/** How much clients may have open; see the settings of the same names. */
export interface OperationLimits {
  readonly operationsOfConnection: number;
  readonly operationsOfViewer: number;
  readonly operationsOfPod: number;
  readonly channelsOfConnection: number;
  readonly variablesOfConnection: number;
  /** How long channels of an ended subscription still count, as the pod stays subscribed to them. */
  readonly lingerMs: number;
}

const NO_LIMITS: OperationLimits = {
  operationsOfConnection: Infinity,
  operationsOfViewer: Infinity,
  operationsOfPod: Infinity,
  channelsOfConnection: Infinity,
  variablesOfConnection: Infinity,
  lingerMs: 0,
};

/** The part of a connection that caps limit. */
export interface CappedConnection {
  /** Operations that have not ended, the one that is asked about included. */
  readonly operations: number;
  /** Undefined if nothing identifies its viewer. */
  readonly viewerTally: Tally | undefined;
  /** The client whose shares of the pod it takes: its viewer, else its address; undefined if neither is known. */
  readonly client: string | undefined;
  readonly open: boolean;
  /** The number of channels of all its subscriptions, and of those that have just ended. Changed by OperationCaps only. */
  channels: number;
  /** Bytes of the variables of all its subscriptions. Changed by OperationCaps only. */
  variables: number;
}

/** Channels of a connection that count until the pod may have left them. */
interface Lingering {
  readonly connection: CappedConnection;
  readonly channels: number;
}

/** Longest id of an operation. An id is held several times, and known clients send a UUID or a number. */
const MAX_ID_LENGTH = 128;

/** Decides whether a connection may begin one more operation. */
export class OperationCaps {
  readonly #limits: OperationLimits;
  readonly #pod: Readonly<Pick<PodTally, 'operations' | 'shares'>>;
  readonly #metrics: Pick<Metrics, 'refused'>;
  readonly #lingering: Deadlines<Lingering>;
  readonly #caused = new WeakMap<CappedConnection, CausedChannels>();
  /** By how long left channels count, in ms. */
  readonly #kept = new Map<number, Deadlines<CausedChannel>>();

  /** @param pod what all connections have open */
  constructor(
    limits: Partial<OperationLimits>,
    pod: Readonly<Pick<PodTally, 'operations' | 'shares'>>,
    metrics: Pick<Metrics, 'refused'>,
  ) {
    this.#limits = { ...NO_LIMITS, ...limits };
    this.#pod = pod;
    this.#metrics = metrics;
    this.#lingering = new Deadlines(this.#limits.lingerMs, ({ connection, channels }) => {
      connection.channels -= channels;
    });
  }

  /** Why an operation may not begin, before its document is looked at. */
  refusal(connection: CappedConnection, id: string): GraphQLError | undefined {
    const { operationsOfConnection, operationsOfViewer, operationsOfPod } = this.#limits;
    if (id.length > MAX_ID_LENGTH) {
      return coded('ID_TOO_LONG', `expected an id of at most ${MAX_ID_LENGTH} characters, got ${id.length}`);
    }
    if (connection.operations > operationsOfConnection) {
      return this.#refused('operations_of_connection', tooManyOperations(operationsOfConnection));
    }
    if (connection.viewerTally !== undefined && connection.viewerTally.operations > operationsOfViewer) {
      const message = `expected at most ${operationsOfViewer} operations at once of a viewer, got another one`;
      return this.#refused('operations_of_viewer', coded('TOO_MANY_OPERATIONS', message));
    }
    if (this.#pod.operations > operationsOfPod) {
      const message = `expected at most ${operationsOfPod} operations at once in this process, got another one`;
      return this.#refused('operations', podFull(message));
    }
    const { operations, shares } = this.#pod;
    if (shares.roomOf(connection.client, operationsOfPod - operations + 1, 1) < 1) {
      return beyondShare('operations', this.#metrics);
    }
    return undefined;
  }

  /** Why a subscription may not begin, once its plan is known. */
  refusalOf({ channels, key }: SubscriptionPlan, connection: CappedConnection): GraphQLError | undefined {
    const { channelsOfConnection, variablesOfConnection } = this.#limits;
    const caused = this.#caused.get(connection);
    const left = caused === undefined ? 0 : caused.left - caused.leftOf(channels);
    const wanted = connection.channels + left + channels.length;
    if (wanted > channelsOfConnection) {
      const message = `expected at most ${channelsOfConnection} channels on a connection, those included that it has just left or whose history is kept for it, got ${wanted}`;
      return this.#refused('channels_of_connection', coded('TOO_MANY_CHANNELS', message));
    }
    if (connection.variables + variablesSize(key) > variablesOfConnection) {
      const message = `expected the variables of a connection's subscriptions to take at most ${variablesOfConnection} bytes, got more`;
      return this.#refused('variables_of_connection', coded('TOO_MANY_VARIABLES', message));
    }
    return undefined;
  }

  begun({ channels, key }: SubscriptionPlan, connection: CappedConnection): void {
    connection.channels += channels.length;
    this.#caused.get(connection)?.subscribed(channels);
    connection.variables += variablesSize(key);
  }

  ended({ channels, key }: SubscriptionPlan, connection: CappedConnection): void {
    connection.variables -= variablesSize(key);
    const caused = this.#caused.get(connection)?.ended(channels) ?? 0;
    connection.channels -= caused;
    const others = channels.length - caused;
    // Nothing must keep a closed connection in memory.
    if (this.#limits.lingerMs === 0 || !connection.open) connection.channels -= others;
    else this.#lingering.begin({ connection, channels: others });
  }

  /**
   * Messages of these channels are kept because the connection asks for them. Call this before `begun`.
   *
   * @param ms how long they count after they were left
   */
  caused(channels: readonly string[], ms: number, connection: CappedConnection): void {
    const caused = this.#caused.get(connection) ?? new CausedChannels();
    this.#caused.set(connection, caused);
    const deadlines =
      this.#kept.get(ms) ?? new Deadlines<CausedChannel>(ms, (channel) => channel.of.expired(channel));
    this.#kept.set(ms, deadlines);
    for (const channel of channels) caused.add(channel, deadlines);
  }

  #refused(reason: RefusalReason, error: GraphQLError): GraphQLError {
    this.#metrics.refused(reason);
    return error;
  }
}

function coded(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
