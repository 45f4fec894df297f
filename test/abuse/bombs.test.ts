import assert from 'node:assert/strict';
import type { Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test, { type TestContext } from 'node:test';
import type { ExecutionResult } from 'graphql';
import { Executor } from '../../src/executor/executor.ts';
import { Operation } from '../../src/executor/operation.ts';
import { createLog } from '../../src/log.ts';
import { startGraph } from '../e2e/graph-gateway.ts';
import { upTo } from '../helpers/numbers.ts';
import { connectAndInit, subscribeMessage, type RawSocket } from '../helpers/raw-socket.ts';
import { schema } from '../unit/executor/zoo.ts';
import { connectSome, startItems } from './arrange.ts';
import { BOMBS } from './bombs.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const newExecutor = (refused?: (code: string) => void): Executor =>
  new Executor({ schema, cacheSize: 100, log: createLog('silent'), ...(refused && { refused }) });

/** Prints what bombs cost the process that runs `detonate`. @returns MB that are kept of them */
function measured(t: TestContext, what: string, count: number, detonate: () => void): number {
  collectGarbage();
  const heap = process.memoryUsage().heapUsed;
  const began = process.cpuUsage();
  detonate();
  const ms = process.cpuUsage(began).user / 1_000 / count;
  collectGarbage();
  const megabytes = (process.memoryUsage().heapUsed - heap) / 1e6;
  t.diagnostic(`${what}: ${ms.toFixed(2)} ms of CPU each, ${megabytes.toFixed(2)} MB kept of ${count}`);
  return megabytes;
}

for (const { title, text, code } of BOMBS) {
  test(`a document of ${title} is refused before it costs much, and once`, (t) => {
    const codes: string[] = [];
    const executor = newExecutor((refused) => codes.push(refused));
    executor.prepare('{ event { id } }');
    const kept = measured(t, title, 20, () => {
      for (let variant = 0; variant < 20; variant += 1) executor.prepare(text(variant));
    });
    assert.ok(kept < 4, `expected neither texts nor syntax trees to be kept, got ${kept} MB`);
    const errors = executor.prepare(text(0));
    assert.ok(!(errors instanceof Operation), 'expected errors, got an operation');
    assert.equal(errors[0]?.extensions['code'], code);
    assert.ok(errors.length <= 11, `expected at most 11 errors, got ${errors.length}`);
    assert.ok(JSON.stringify(errors).length < 20_000, 'expected a short answer');
    assert.equal(codes.length, code === undefined ? 0 : 21);
    // The same object: it was neither parsed nor counted again.
    assert.equal(executor.prepare(text(0)), errors);
  });
}

/** One frame of a client, masked with zeros. */
const PING = Buffer.from('\x81\x8f\0\0\0\0{"type":"ping"}', 'latin1');

/** Sends a frame so many times at once, for which it is closed. */
async function flood({ webSocket, closed }: RawSocket, frame: Buffer, times: number): Promise<void> {
  const { _socket: stream } = webSocket as unknown as { _socket: Writable };
  stream.write(Buffer.concat(Array.from({ length: times }, () => frame)));
  assert.equal((await closed).code, 1008);
}

const SCHEMA = 'type Subscription { item: Item @event(topic: "items") } type Item { id: ID item: Item }';

const levels = (count: number): string => `${'item { '.repeat(count)} id ${'}'.repeat(count)}`;

test('a client has its turn while ten sockets pipeline documents that take long', async (t) => {
  const gateway = await startGraph(t, { 'schema.graphql': SCHEMA }, { CHANNEL_LINGER_MS: '0' });
  const hostile = await connectSome(t, gateway, 10);
  const client = await connectAndInit(t, gateway.graphqlUrl);
  const aliases = upTo(9).map((alias) => `a${alias}: item { ${levels(15)} }`);
  for (const [index, socket] of hostile.entries()) {
    const pipelined = upTo(100).map((id) =>
      subscribeMessage(`${id}`, `subscription S${index}_${id} { item { ${aliases.join(' ')} } }`),
    );
    socket.sendTogether(...pipelined, { type: 'ping' });
  }
  await client.roundTrip();
  const pongs = (): number =>
    hostile.filter(({ messages }) => messages.some(({ type }) => type === 'pong')).length;
  assert.ok(
    pongs() <= 2,
    `expected the client's turn before the end of what was pipelined, after ${pongs()} sockets`,
  );
  assert.ok((await gateway.metric('sluice_held_connections_total')) > 0);
});

test('a socket that sends a storm of messages is held, and closed past a bound that no client meets', async (t) => {
  const gateway = await startItems(t, {
    CHANNEL_LINGER_MS: '0',
    MESSAGES_PER_SECOND: '10',
    SUBSCRIBES_PER_SECOND: '10',
  });
  const hasty = await connectAndInit(t, gateway.graphqlUrl);
  const storm = Array.from({ length: 40 }, (_, index) => [
    subscribeMessage(`s${index}`, `subscription S${index} { item { id } }`),
    { type: 'complete', id: `s${index}` },
  ]);
  hasty.sendTogether(...storm.flat());
  await hasty.roundTrip();
  assert.ok((await gateway.metric('sluice_held_connections_total')) > 0);
  await gateway.untilMetric('sluice_channels', 0);
  const hostile = await connectAndInit(t, gateway.graphqlUrl);
  await flood(hostile, PING, 2_000);
  await gateway.untilMetric('sluice_connections', 1);
  await hasty.roundTrip();
});

test('a query whose result is no JSON is an error for its id, and the other operations go on', async (t) => {
  const resolvers = '{ Query: { big: () => 10n } }';
  const gateway = await startItems(
    t,
    { CHANNEL_LINGER_MS: '0' },
    {
      'schema.graphql': `scalar Big type Query { big: Big } ${SCHEMA}`,
      'graph.js': `import { defineGraph } from 'sluice'; export default defineGraph({ resolvers: ${resolvers} });`,
    },
  );
  const socket = await connectAndInit(t, gateway.graphqlUrl);
  socket.subscribe('good', 'subscription { item { id } }');
  await gateway.untilMetric('sluice_subscribers', 1);
  socket.subscribe('big', '{ big }');
  const answer = await socket.until(({ id }) => id === 'big');
  const { data, errors: [error] = [] } = answer.payload as ExecutionResult;
  assert.deepEqual([answer.type, data, error?.extensions], ['next', null, { code: 'UNSERIALISABLE_RESULT' }]);
  await gateway.postEvent('items', { id: 1 });
  await socket.until(({ id, type }) => id === 'good' && type === 'next');
});
