import { CloseCode } from 'graphql-ws';

/** Why the gateway closes a connection. `retry`: the graphql-ws client connects again by itself. */
interface Closing {
  readonly code: number;
  readonly reason: string;
  readonly retry: boolean;
}

/** The ends that the gateway itself decides on; those of the protocol come from graphql-ws. */
export const CLOSINGS = {
  goingAway: { code: 1001, reason: 'Going away', retry: true },
  tooSlow: { code: 1013, reason: 'Too slow: more was waiting for this socket than may wait', retry: true },
  badMessage: { code: CloseCode.BadRequest, reason: 'Invalid message received', retry: false },
  idInUse: {
    code: CloseCode.SubscriberAlreadyExists,
    reason: 'The last subscription of this id is still ending',
    retry: false,
  },
  failed: { code: CloseCode.InternalServerError, reason: 'Internal server error', retry: false },
} as const satisfies Record<string, Closing>;
