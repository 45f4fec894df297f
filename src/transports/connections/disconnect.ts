import { CloseCode } from '#graphql-ws';
import { REVOCATIONS_UNREAD } from '../../auth/refusal.ts';

/** A reason for which the gateway closes a connection. */
export interface Disconnect {
  /** WebSocket close code. */
  readonly code: number;
  /** Value of the label `reason` of `sluice_closes_total`. */
  readonly label: string;
  /** Sent to the client in the close frame. */
  readonly reason: string;
  /** Whether the graphql-ws client connects again by itself. */
  readonly retry: boolean;
}

/** The disconnects that the gateway itself decides on; graphql-ws adds those of the protocol. */
export const DISCONNECTS = {
  goingAway: { code: 1001, label: 'going_away', reason: 'Going away', retry: true },
  serviceRestart: { code: 1012, label: 'service_restart', reason: 'Service restart', retry: true },
  gap: { code: 1012, label: 'gap', reason: 'Events may be missing: fetch again', retry: true },
  /** Asked by a client of subscriptions-transport-ws. */
  asked: { code: 1000, label: 'asked', reason: 'The client has asked for it', retry: true },
  badFrame: {
    code: 1002,
    label: 'bad_frame',
    reason: 'Expected frames as the WebSocket protocol has them',
    retry: false,
  },
  notText: { code: 1007, label: 'not_text', reason: 'Expected text in UTF-8', retry: false },
  tooManyMessages: {
    code: 1008,
    label: 'too_many_messages',
    reason: 'Too many messages: more waited for their turn than may wait',
    retry: false,
  },
  tooManyFrames: {
    code: 1008,
    label: 'too_many_frames',
    reason: 'Too many frames or packets for one message',
    retry: false,
  },
  tooLarge: {
    code: 1009,
    label: 'too_large',
    reason: 'Message too large: it has more bytes than MAX_PAYLOAD_BYTES allows',
    retry: false,
  },
  tooSlow: {
    code: 1013,
    label: 'too_slow',
    reason: 'Too slow: more was waiting for this socket than may wait',
    retry: true,
  },
  unfinished: {
    code: 1013,
    label: 'unfinished',
    reason: 'Too slow: messages of many clients were coming, and this one had been for longest',
    retry: true,
  },
  viewerConnections: {
    code: 1013,
    label: 'viewer_connections',
    reason: 'Too many connections of this viewer: close one of them',
    retry: true,
  },
  pressure: {
    code: 1013,
    label: 'pressure',
    reason: 'This pod is short of memory, and much was waiting for this socket',
    retry: true,
  },
  keysUnavailable: {
    code: 1013,
    label: 'keys_unavailable',
    reason: 'The keys that tokens are verified with are out of reach',
    retry: true,
  },
  revocationsUnread: {
    code: 1013,
    label: 'revocations_unread',
    reason: REVOCATIONS_UNREAD.reason,
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
    reason: 'Subscriber for this id already exists',
    retry: false,
  },
  noInit: {
    code: CloseCode.ConnectionInitialisationTimeout,
    label: 'no_init',
    reason: 'Connection initialisation timeout',
    retry: true,
  },
  tokenRefused: { code: CloseCode.Forbidden, label: 'token_refused', reason: 'Forbidden', retry: true },
  tokenExpired: {
    code: CloseCode.Forbidden,
    label: 'token_expired',
    reason: 'The token expired, and no fresh one came',
    retry: true,
  },
  otherIdentity: {
    code: CloseCode.Forbidden,
    label: 'other_identity',
    reason: 'The fresh token is of another identity: connect again with it',
    retry: true,
  },
  revoked: { code: CloseCode.Forbidden, label: 'revoked', reason: 'Access was revoked', retry: true },
  failed: {
    code: CloseCode.InternalServerError,
    label: 'failed',
    reason: 'Internal server error',
    retry: false,
  },
} as const satisfies Record<string, Disconnect>;

/** Further reasons, for which graphql-ws closes by itself. */
const OF_PROTOCOL = [
  { code: CloseCode.Unauthorized, label: 'not_acknowledged' },
  { code: CloseCode.Forbidden, label: 'refused' },
  { code: CloseCode.SubprotocolNotAcceptable, label: 'other_protocol' },
  { code: CloseCode.TooManyInitialisationRequests, label: 'second_init' },
];

/** All closes by the gateway that are counted, as labels of `sluice_closes_total`. A code may have several reasons. */
export const CLOSES: readonly Pick<Disconnect, 'code' | 'label'>[] = [
  ...Object.values(DISCONNECTS),
  ...OF_PROTOCOL,
];

/** The first of the codes for applications. */
const FIRST_OF_PROTOCOL = 4_000;

const LABELS: ReadonlyMap<number, string> = new Map(
  CLOSES.filter(({ code }) => code >= FIRST_OF_PROTOCOL).map(({ code, label }) => [code, label]),
);

/** The label for a code that graphql-ws closes with, of a closed list of values; `other` for codes that are not in it. */
export function protocolLabel(code: number): string {
  return LABELS.get(code) ?? 'other';
}
