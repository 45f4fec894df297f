import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { startGraph } from '../e2e/graph-gateway.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { upTo } from '../helpers/numbers.ts';
import { ask } from '../unit/server/serve.ts';

const SCHEMA = `
  type Query { hello: String large: String }
  type Subscription { node: Node @event(topic: "nodes") }
  type Node { id: ID }
`;

const GRAPH = `
  import { defineGraph } from 'sluice';
  const large = 'x'.repeat(900_000);
  export default defineGraph({ resolvers: { Query: { hello: () => 'hello', large: () => large } } });
`;

const start = (t: TestContext): Promise<GatewayProcess> =>
  startGraph(
    t,
    { 'schema.graphql': SCHEMA, 'graph.js': GRAPH },
    { NODE_OPTIONS: '--max-old-space-size=128' },
  );

/** Clients that write the same without end, and read nothing, each until it is cut off. */
async function flood(t: TestContext, { port }: GatewayProcess, clients: number, piece: string, head = '') {
  const block = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)), 'latin1');
  await Promise.all(
    upTo(clients).map(async () => {
      const socket: Socket = connect(port, '127.0.0.1').on('error', () => undefined);
      t.after(() => socket.destroy());
      socket.pause();
      const write = (): void => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on('drain', write).write(head);
      write();
      await new Promise((resolve) => socket.once('close', resolve));
    }),
  );
}

async function assertServed({ port }: GatewayProcess): Promise<void> {
  const { status } = await ask(port, '/graphql?query=%7Bhello%7D');
  assert.equal(status, 200);
}

test('requests without end neither end the pod nor stay, whether they are refused, executed, or answered with much', async (t) => {
  const gateway = await start(t);
  let refused = 0;
  for (const path of ['/nowhere', '/graphql?query=%7Bhello%7D', '/graphql?query=%7Blarge%7D']) {
    await flood(t, gateway, 20, `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    refused += 20;
    assert.equal(await gateway.metric('sluice_refusals_total{reason="pipelined"}'), refused);
    await assertServed(gateway);
  }
});

test('bodies in chunks of a byte do not end the pod', async (t) => {
  const gateway = await start(t);
  const head =
    'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
  await flood(t, gateway, 100, '1\r\n \r\n', head);
  await assertServed(gateway);
});

test('frames without end, of clients that do not answer the close frame, do not keep others from the pod', async (t) => {
  const gateway = await start(t);
  const upgrade = [
    'GET /graphql HTTP/1.1',
    'host: localhost',
    'upgrade: websocket',
    'connection: upgrade',
    'sec-websocket-version: 13',
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-protocol: graphql-transport-ws',
  ];
  const ping = '\x89\x80\0\0\0\0';
  await flood(t, gateway, 20, ping, `${upgrade.join('\r\n')}\r\n\r\n`);
  assert.equal(await gateway.metric('sluice_closes_total{code="1008",reason="too_many_messages"}'), 20);
  await assertServed(gateway);
});
