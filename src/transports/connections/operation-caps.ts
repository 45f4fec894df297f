import { GraphQLError } from 'graphql';
import { podFull, variablesSize } from '../../hub/join-refusal.ts';
import type { SubscriptionPlan } from '../../hub/subscription-plan.ts';
import type { Metrics } from '../../metrics.ts';
import { Deadlines } from '../../support/deadlines.ts';
import type { RefusalReason } from '../../support/refusal.ts';
import { tooManyOperations } from '../too-many-operations.ts';
import type { Tally } from './viewers.ts';

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

/** The part of a connection that its caps are about. */
export interface CappedConnection {
  /** Operations that have not ended, the one that is asked about included. */
  readonly operations: number;
  /** Undefined if nothing identifies its viewer. */
  readonly viewerTally: Tally | undefined;
  readonly open: boolean;
  /** Of all its subscriptions, and of those that have just ended. Changed by OperationCaps only. */
  channels: number;
  /** Bytes, likewise. */
  variables: number;
}

/** Channels of a connection that count until the pod may have left them. */
interface Lingering {
  readonly connection: CappedConnection;
  readonly channels: number;
}

/** Longest id of an operation. It is held several times, and clients that are in use send a UUID or a number. */
const MAX_ID_LENGTH = 128;

/** Decides whether a connection may begin one more operation. */
export class OperationCaps {
  readonly #limits: OperationLimits;
  readonly #pod: Readonly<Tally>;
  readonly #metrics: Pick<Metrics, 'refused'>;
  readonly #lingering: Deadlines<Lingering>;

  /** @param pod what all connections have open */
  constructor(limits: Partial<OperationLimits>, pod: Readonly<Tally>, metrics: Pick<Metrics, 'refused'>) {
    this.#limits = { ...NO_LIMITS, ...limits };
    this.#pod = pod;
    this.#metrics = metrics;
    this.#lingering = new Deadlines(this.#limits.lingerMs, ({ connection, channels }) => {
      connection.channels -= channels;
    });
  }

  /** Before the document is looked at. */
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
    return undefined;
  }

  /** Once it is known what a subscription takes. */
  refusalOf({ channels, key }: SubscriptionPlan, connection: CappedConnection): GraphQLError | undefined {
    const { channelsOfConnection, variablesOfConnection } = this.#limits;
    const wanted = connection.channels + channels.length;
    if (wanted > channelsOfConnection) {
      const message = `expected at most ${channelsOfConnection} channels on a connection, those that it has just left included, got ${wanted}`;
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
    connection.variables += variablesSize(key);
  }

  ended({ channels, key }: SubscriptionPlan, connection: CappedConnection): void {
    connection.variables -= variablesSize(key);
    // Nothing must keep a connection in memory that is closed.
    if (this.#limits.lingerMs === 0 || !connection.open) connection.channels -= channels.length;
    else this.#lingering.begin({ connection, channels: channels.length });
  }

  #refused(reason: RefusalReason, error: GraphQLError): GraphQLError {
    this.#metrics.refused(reason);
    return error;
  }
}

function coded(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
