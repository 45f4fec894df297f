import { RawClient, type Receiver } from './raw-client.ts';
import { StreamClient } from './stream-client.ts';

/** The protocol of a subscription. */
export type Transport =
  | 'graphql-transport-ws'
  | 'graphql-transport-ws, compressed'
  | 'graphql-ws'
  | 'server-sent events'
  | 'server-sent events, compressed'
  | 'multipart';

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

/** @param subscribed its `acknowledged` is called when the client has sent the subscription */
type Connect = (
  endpoint: Endpoint,
  localAddress: string,
  subscribed: Receiver,
  id: string,
  payload: object,
) => Connection;

interface Messages {
  readonly connect: Connect;
  /** @returns undefined for a message without a result */
  read(text: string): Received<unknown> | undefined;
}

function overWebSocket(protocol: string, begin: string, result: string, offers = false): Messages {
  return {
    connect: (endpoint, localAddress, subscribed, id, payload) => {
      const client = new RawClient(
        endpoint,
        localAddress,
        {
          acknowledged: () => {
            client.send({ id, type: begin, payload });
            subscribed.acknowledged();
          },
          read: (bytes) => subscribed.read?.(bytes),
          text: (...bytes) => subscribed.text(...bytes),
          ended: (ending) => subscribed.ended(ending),
        },
        protocol,
        offers,
      );
      return client;
    },
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
};

export const messagesOf = (transport: Transport = 'graphql-transport-ws'): Messages => MESSAGES[transport];
