import assert from 'node:assert/strict';
import test from 'node:test';
import { download } from '../helpers/curl.ts';
import { objectsIn } from '../helpers/devtools-files.ts';
import { range } from '../helpers/numbers.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';
import { needs } from '../helpers/services.ts';
import { startItems } from './graph-gateway.ts';

const SUBSCRIBERS = 100;

test(
  'a heap snapshot taken by curl under load names the subscribers, and sockets get all events in order',
  needs('curl'),
  async (t) => {
    const gateway = await startItems(t);
    const sockets = await Promise.all(range(0, SUBSCRIBERS).map(() => connectAndInit(t, gateway.graphqlUrl)));
    for (const socket of sockets)
      socket.subscribe('1', 'subscription Watch($id: [ID!]) { item(id: $id) { n } }', { id: ['7'] });
    await gateway.untilMetric('sluice_subscribers', SUBSCRIBERS);
    let sent = 0;
    const send = () => gateway.postEvent('items', { id: 7, n: sent++ });
    await send();

    const state = { isOver: false };
    const downloading = download(t, `${gateway.adminUrl}/debug/heap-snapshot`).finally(
      () => (state.isOver = true),
    );
    while (!state.isOver) await send();
    await send();
    const { name, text } = await downloading;

    assert.match(name, /\.heapsnapshot$/);
    const objects = objectsIn(text);
    assert.equal(objects.get('WebSocketSubscription'), SUBSCRIBERS);
    assert.equal(objects.get('Group'), 1);
    await gateway.untilLog(/the event loop was blocked while a heap snapshot was taken/);
    await gateway.untilMetric('sluice_deliveries_total', sent * SUBSCRIBERS);
    for (const socket of sockets) {
      await socket.roundTrip();
      const results = socket.messages.filter(({ type }) => type === 'next');
      assert.deepEqual(
        results.map(({ payload }) => payload),
        range(0, sent).map((n) => ({ data: { item: { n } } })),
      );
    }
  },
);
