import type { Transport } from '../report/report.ts';
import { channelName, type WrittenEvent } from '../run/workload.ts';
import { graphqlOver, RawClient, type Dialect, type Receiver } from './raw-client.ts';
import { StreamClient } from './stream-client.ts';

/** A result, with the id of its subscription on a transport that has ids. */
export interface Received<Payload> {
  readonly id?: string;
  readonly payload: Payload;
}

/** One subscription on a connection of its own. */
export interface Connection {
  pause(): void;
  resume(): void;
  destroy(): void;
}

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** The request for a subscription. */
interface Request {
  readonly query: string;
  readonly variables?: { readonly channel?: string };
}

/** @param subscribed its `acknowledged` is called when the client has sent the subscription */
type Connect = (
  endpoint: Endpoint,
  localAddress: string,
  subscribed: Receiver,
  id: string,
  payload: Request,
) => Connection;

interface Messages {
  readonly connect: Connect;
  /** @returns undefined for a message without a result */
  read(text: string): Received<unknown> | undefined;
}

/** @param subscribe the message that subscribes */
function dialling(
  dialect: Dialect,
  subscribe: (id: string, payload: Request) => object,
): Messages['connect'] {
  return (endpoint, localAddress, subscribed, id, payload) => {
    const receiver = {
      acknowledged: () => {
        client.send(subscribe(id, payload));
        subscribed.acknowledged();
      },
      read: (bytes: number) => subscribed.read?.(bytes),
      text: (...bytes: Parameters<Receiver['text']>) => subscribed.text(...bytes),
      ended: (ending: string) => subscribed.ended(ending),
    };
    const client = new RawClient(endpoint, localAddress, receiver, dialect);
    return client;
  };
}

function overWebSocket(protocol: string, begin: string, result: string, offers = false): Messages {
  return {
    connect: dialling(graphqlOver(protocol, offers), (id, payload) => ({ id, type: begin, payload })),
    read(text) {
      const { id, type, payload } = JSON.parse(text) as { id: string; type: string; payload: unknown };
      return type === result ? { id, payload } : undefined;
    },
  };
}

function overStream(accept: string, read: Messages['read'], offers = false): Messages {
  return {
    connect: (endpoint, localAddress, subscribed, _id, payload) =>
      new StreamClient(endpoint, localAddress, subscribed, accept, payload, offers),
    read,
  };
}

const DATA = /^event: next\n(?:id: .*\n)?data: (.*)\n\n$/;
const PART = /\r\n\r\n(\{"payload":.*\})\r\n--graphql$/;

function readEvent(text: string): Received<unknown> | undefined {
  const [, json] = DATA.exec(text) ?? [];
  return json === undefined ? undefined : { payload: JSON.parse(json) as unknown };
}

/** Centrifugo's own protocol, as JSON. Its channels have the names of Sluice's keys, and carry events as they were written. */
const CENTRIFUGO: Messages = {
  connect: dialling(
    {
      path: '/connection/websocket',
      opening: { id: 1, connect: {} },
      admits: (message) => 'connect' in (JSON.parse(message) as object),
      ping: '{}',
      inLines: true,
    },
    (_id, { variables }) => ({ id: 2, subscribe: { channel: variables?.channel ?? channelName(0) } }),
  ),
  read(text) {
    const { push } = JSON.parse(text) as { push?: { pub?: { data: WrittenEvent } } };
    if (push?.pub === undefined) return undefined;
    const { channel, seq, sentAt, bodyText } = push.pub.data;
    return { payload: { data: { update: { channel, seq, sent_at: sentAt, body_text: bodyText } } } };
  },
};

const MESSAGES: Readonly<Record<Transport, Messages>> = {
  'graphql-transport-ws': overWebSocket('graphql-transport-ws', 'subscribe', 'next'),
  'graphql-transport-ws, compressed': overWebSocket('graphql-transport-ws', 'subscribe', 'next', true),
  'graphql-ws': overWebSocket('graphql-ws', 'start', 'data'),
  'server-sent events': overStream('text/event-stream', readEvent),
  'server-sent events, compressed': overStream('text/event-stream', readEvent, true),
  multipart: overStream('multipart/mixed;subscriptionSpec=1.0', (text) => {
    const [, json] = PART.exec(text) ?? [];
    return json === undefined ? undefined : (JSON.parse(json) as Received<unknown>);
  }),
  centrifugo: CENTRIFUGO,
};

export const messagesOf = (transport: Transport = 'graphql-transport-ws'): Messages => MESSAGES[transport];
