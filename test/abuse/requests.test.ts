import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { Changes } from '../helpers/changes.ts';
import { startGraph } from '../e2e/graph-gateway.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { range, upTo } from '../helpers/numbers.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { ask } from '../unit/server/serve.ts';

const SCHEMA = `
  type Query { hello: String node: Node }
  type Subscription { node: Node @event(topic: "nodes") }
  type Node { id: ID, node: Node }
`;

/** Clients that say so are identified slowly, as by a back end that does not answer. */
const GRAPH = `
  import { defineGraph } from 'sluice';
  import { setTimeout } from 'node:timers/promises';
  export default defineGraph({
    authenticate: (_params, { headers }) => setTimeout(headers['x-slow'] === undefined ? 0 : 5_000, {}),
    resolvers: { Query: { hello: () => 'hello' } },
  });
`;

const JSON_TYPE = { 'content-type': 'application/json' };
const HELLO = JSON.stringify({ query: '{ hello }' });

async function start(t: TestContext): Promise<GatewayProcess> {
  const files = { 'schema.graphql': SCHEMA, 'graph.js': GRAPH };
  return startGraph(t, files, { NODE_OPTIONS: '--max-old-space-size=256' });
}

/** A client that sends requests one behind the other, whatever is answered. */
class Pipeline {
  readonly socket: Socket;
  /** In the order of the requests. */
  readonly statuses: number[] = [];
  readonly #changes = new Changes();
  #rest = '';

  constructor(t: TestContext, { port }: GatewayProcess) {
    this.socket = connect(port, '127.0.0.1');
    t.after(() => this.socket.destroy());
    this.socket.on('error', () => undefined);
    this.socket.setEncoding('latin1').on('data', (text: string) => {
      const all = this.#rest + text;
      let end = 0;
      for (const { 0: line, 1: status, index } of all.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        this.statuses.push(Number(status));
        end = index + line.length;
      }
      // A status line may go on in the next packet.
      this.#rest = all.slice(Math.max(end, all.length - 'HTTP/1.1 20'.length));
      this.#changes.emit();
    });
  }

  /** Sends as fast as the gateway reads, until it has all or is left. */
  async send(bodies: Iterable<string>, headers = ''): Promise<void> {
    for (const body of bodies) {
      const head = `POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${headers}`;
      if (this.socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`)) continue;
      await Promise.race([once(this.socket, 'drain'), once(this.socket, 'close')]);
      if (this.socket.destroyed) return;
    }
  }

  async until(count: number): Promise<void> {
    await this.#changes.until(
      () => this.statuses.length >= count || undefined,
      () => `expected ${count} responses, got ${this.statuses.length}`,
    );
  }
}

/** By another client. */
async function assertServed(gateway: GatewayProcess): Promise<void> {
  const { status, body } = await ask(gateway.port, '/graphql', {
    method: 'POST',
    headers: JSON_TYPE,
    body: HELLO,
  });
  assert.deepEqual([status, body], [200, '{"data":{"hello":"hello"}}']);
}

test('requests that wait to be identified neither end the pod nor keep others from it', async (t) => {
  const gateway = await start(t);
  const body = JSON.stringify({ query: '{ hello }', variables: { a: 'x'.repeat(65_000) } });
  const slow = 'x-slow: yes\r\n';
  const large = upTo(100).map(() => new Pipeline(t, gateway));
  const sent = large.map((pipeline) =>
    pipeline.send(
      upTo(40).map(() => body),
      slow,
    ),
  );
  const many = upTo(250).map(() => new Pipeline(t, gateway));
  for (const pipeline of many) await pipeline.send([HELLO], slow);
  await assertServed(gateway);
  const all = [...large, ...many];
  await Promise.all(all.map((pipeline) => pipeline.until(1)));
  // The others are beyond the share of their address.
  const statuses = all.map(({ statuses: [first] }) => first);
  assert.ok(statuses.filter((status) => status === 200).length > 100, statuses.join());
  assert.deepEqual([...new Set(statuses)].toSorted(), [200, 503]);
  await assertServed(gateway);
  for (const { socket } of large) socket.destroy();
  await Promise.all(sent);
  await gateway.untilMetric('sluice_reserved_bytes{source="bodies"}', 0);
});

test('documents that take long to validate, one behind the other, let other requests and WebSockets come first', async (t) => {
  const gateway = await start(t);
  const attacker = new Pipeline(t, gateway);
  const levels = `${'node { '.repeat(14)} id ${'}'.repeat(14)}`;
  const aliases = upTo(60).map((n) => `a${n}: node { ${levels} }`);
  const documents = upTo(250).map((n) => JSON.stringify({ query: `query Q${n} { ${aliases.join(' ')} }` }));
  void attacker.send(documents);
  await attacker.until(2);
  const began = performance.now();
  for (const _ of range(0, 20)) await assertServed(gateway);
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.subscribe('1', '{ hello }');
  await socket.until(({ id }) => id === '1');
  t.diagnostic(`20 requests and a WebSocket took ${(performance.now() - began).toFixed(0)} ms`);
  const { length } = attacker.statuses;
  assert.ok(
    length < 100,
    `expected others to be served long before the last of 250, got them after ${length}`,
  );
  assert.deepEqual([...new Set(attacker.statuses)], [200]);
});
