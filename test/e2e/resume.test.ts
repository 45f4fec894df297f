import assert from 'node:assert/strict';
import test from 'node:test';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { ResumingClient, subscribeWith } from '../helpers/resuming-client.ts';
import { needs } from '../helpers/services.ts';
import { sharedGraph } from './graph-gateway.ts';
import { ALL, SOME, startPods, untilAllHave } from './resuming-pods.ts';

for (const [state, signal, code] of [
  ['drained', 'SIGTERM', 1012],
  ['killed', 'SIGKILL', 1006],
] as const) {
  test(
    `clients that are cut off again and again, and whose pod is ${state}, resume on the other of two pods, and get every event once and in order`,
    needs('kafka', 'redis-server'),
    async (t) => {
      const { pods, sender } = await startPods(t, { DRAIN_SECONDS: '1' });
      const clients = new Map([
        [new ResumingClient(t, ALL), [0, 1, 2, 3, 4]],
        [new ResumingClient(t, SOME, { id: ['1'] }), [1]],
        [new ResumingClient(t, SOME, { id: ['3', '0', '2'] }), [0, 2, 3]],
      ]);
      for (let times = 0; times < 10; times += 1) {
        for (const client of clients.keys()) await client.connect(pods[times % 2]?.graphqlUrl ?? '');
        await sender.more(10);
        for (const client of clients.keys()) client.cut();
        await sender.more(10);
      }
      const [leaving, staying] = pods;
      for (const client of clients.keys()) await client.connect(leaving.graphqlUrl);
      await sender.more(10);
      leaving.child.kill(signal);
      for (const client of clients.keys()) {
        assert.equal((await client.socket?.closed)?.code, code);
        await client.connect(staying.graphqlUrl);
      }
      await sender.more(10);
      await untilAllHave(sender, clients);
    },
  );
}

const ready = sharedGraph({
  'schema.graphql': `
    type Subscription {
      bid: Bid @event(topic: "bids", history: {})
      mine: Bid @event(topic: "bids", history: {}) @auth(owner: { field: "owner_id" })
      watched: Bid @event(topic: "bids", history: {}) @filter(where: { watchers: { contains: "$viewer.id" } })
      unkept: Bid @event(topic: "asks")
    }
    type Bid { n: Int!, owner_id: ID, watchers: [ID!], reserve: Int @auth(requires: "admin") }`,
  'graph.js': `
    import { defineGraph } from 'sluice';
    export default defineGraph({ authenticate: ({ id, role }) => (id ? { id, role } : {}) });`,
});

const ANN = { id: 'ann', role: 'bidder' };
const ADMIN = { id: 'eve', role: 'admin' };

test('a client that resumes as another viewer gets what the other one may have', async (t) => {
  const pod = await ready();
  const mine = new ResumingClient(t, 'subscription { mine { n } }');
  const watched = new ResumingClient(t, 'subscription { watched { n } }');
  const guarded = new ResumingClient(t, 'subscription { bid { n reserve } }');
  for (const client of [mine, watched, guarded]) {
    await client.connect(pod.graphqlUrl, ADMIN);
    client.cut();
  }
  await pod.untilMetric('sluice_connections', 0);
  await pod.postEvent('bids', { n: 1, reserve: 9, owner_id: 'eve', watchers: ['eve'] });
  await pod.postEvent('bids', { n: 2, reserve: 9, owner_id: 'ann', watchers: ['ann', 'eve'] });
  for (const client of [mine, watched, guarded]) await client.connect(pod.graphqlUrl, ANN);
  await guarded.until(({ length }) => length === 2);
  assert.deepEqual(guarded.values('reserve'), [null, null]);
  for (const client of [mine, watched]) {
    await client.until(({ length }) => length > 0);
    assert.deepEqual(client.values('n'), [2]);
  }
});

test('a client whose viewer may not hold the subscription any more is refused, with a cursor too', async (t) => {
  const pod = await ready();
  const client = new ResumingClient(t, 'subscription { mine { n } }');
  await client.connect(pod.graphqlUrl, ANN);
  client.cut();
  await pod.postEvent('bids', { n: 1, owner_id: 'ann' });
  const { query, cursor } = client;
  const socket = await subscribeWith(t, pod.graphqlUrl, { query, resume: cursor });
  const { type, payload } = await socket.until(({ id }) => id === '1');
  assert.equal(type, 'error');
  assert.match(JSON.stringify(payload), /UNAUTHENTICATED/);
});

test('a client that does not ask for it gets the frames that it would get without history', async (t) => {
  const pod = await ready();
  const socket = await connectAndInit(t, pod.graphqlUrl);
  const frames: string[] = [];
  socket.webSocket.on('message', (data: Buffer) => frames.push(data.toString()));
  socket.subscribe('1', 'subscription { bid { n } }');
  socket.subscribe('2', 'subscription { unkept { n } }');
  const resuming = new ResumingClient(t, 'subscription { bid { n } }');
  await resuming.connect(pod.graphqlUrl);
  await pod.untilMetric('sluice_subscribers', 3);
  await pod.postEvent('bids', { n: 1 });
  await socket.until(({ id }) => id === '1');
  await pod.postEvent('asks', { n: 1 });
  await socket.until(({ id }) => id === '2');
  const [kept = '', unkept = ''] = frames;
  assert.equal(frames.length, 2);
  assert.equal(kept, unkept.replace('"2"', '"1"').replace('unkept', 'bid'));
  assert.ok(!kept.includes('extensions'));
});
