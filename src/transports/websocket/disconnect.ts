import { CloseCode } from 'graphql-ws';

/** Why the gateway closes a connection. `retry`: the graphql-ws client connects again by itself. */
export interface Closing {
  readonly code: number;
  /** In metrics. */
  readonly label: string;
  readonly reason: string;
  readonly retry: boolean;
}

/** The ends that the gateway itself decides on; those of the protocol come from graphql-ws. */
export const CLOSINGS = {
  goingAway: { code: 1001, label: 'going_away', reason: 'Going away', retry: true },
  serviceRestart: { code: 1012, label: 'service_restart', reason: 'Service restart', retry: true },
  tooSlow: {
    code: 1013,
    label: 'too_slow',
    reason: 'Too slow: more was waiting for this socket than may wait',
    retry: true,
  },
  badMessage: {
    code: CloseCode.BadRequest,
    label: 'bad_message',
    reason: 'Invalid message received',
    retry: false,
  },
  idInUse: {
    code: CloseCode.SubscriberAlreadyExists,
    label: 'id_in_use',
    reason: 'The last subscription of this id is still ending',
    retry: false,
  },
  noInit: {
    code: CloseCode.ConnectionInitialisationTimeout,
    label: 'no_init',
    reason: 'Connection initialisation timeout',
    retry: true,
  },
  failed: {
    code: CloseCode.InternalServerError,
    label: 'failed',
    reason: 'Internal server error',
    retry: false,
  },
} as const satisfies Record<string, Closing>;

const LABELS: ReadonlyMap<number, string> = new Map([
  ...Object.values(CLOSINGS).map(({ code, label }): [number, string] => [code, label]),
  [CloseCode.Unauthorized, 'not_acknowledged'],
  [CloseCode.Forbidden, 'refused'],
  [CloseCode.SubprotocolNotAcceptable, 'other_protocol'],
  [CloseCode.TooManyInitialisationRequests, 'second_init'],
]);

/** Why, in one word of a closed list. */
export function closeLabel(code: number): string {
  return LABELS.get(code) ?? 'other';
}
