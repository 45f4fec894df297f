import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { embedGateway } from '../helpers/embedded-gateway.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { connectAndInit, type RawSocket } from '../helpers/raw-socket.ts';
import type { Scope } from '../helpers/scope.ts';

type Settings = Readonly<Record<string, string>>;

/** A gateway in this process. @param files beside those of a graph of items */
export async function startItems(scope: Scope, settings: Settings = {}, files: Settings = {}) {
  const folder = await graphFolder(scope, { 'schema.graphql': itemSchema('items'), ...files });
  return embedGateway(scope, { GRAPH: folder, ...settings });
}

/** Sockets that are acknowledged. */
export function connectSome(t: TestContext, gateway: GatewayProcess, count: number): Promise<RawSocket[]> {
  return Promise.all(Array.from({ length: count }, () => connectAndInit(t, gateway.graphqlUrl)));
}

/** What the socket's subscriptions to one field have brought. */
export function numbersOf({ messages }: RawSocket, wanted?: string): (number | undefined)[] {
  return messages
    .filter(({ type, id }) => type === 'next' && (wanted === undefined || id === wanted))
    .map(({ payload }) => {
      const { data } = payload as { data?: Readonly<Record<string, { n: number } | null>> | null };
      return Object.values(data ?? {})[0]?.n;
    });
}

/** Resolves when an event with this number has come. */
export async function untilNumber(socket: RawSocket, n: number): Promise<void> {
  await socket.until(() => numbersOf(socket).includes(n));
}

/** The response to an upgrade that is refused. */
export async function refusedUpgrade(url: string, headers: Settings = {}) {
  const webSocket = new WebSocket(url, 'graphql-transport-ws', { headers });
  webSocket.on('error', () => undefined);
  const refused = once(webSocket, 'unexpected-response') as Promise<[ClientRequest, IncomingMessage]>;
  const opened = once(webSocket, 'open').then(() => Promise.reject(new Error('expected to be refused')));
  const [, response] = await Promise.race([refused, opened]);
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode, retryAfter: Number(response.headers['retry-after']), body };
}
