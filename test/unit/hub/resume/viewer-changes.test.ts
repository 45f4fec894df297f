import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { upTo } from '../../../helpers/numbers.ts';
import { filterOn, heldExecutions, settled } from '../parts.ts';
import { inTurns } from '../../turns.ts';
import { world, type Client } from './world.ts';

const EVENTS = 50;

/** What sellers alone may see; each execution waits until it is let go. Clients have missed events, and resume. */
async function resuming(t: TestContext, count: number) {
  const { executions, execute } = heldExecutions();
  const filter = filterOn('role', (_event, viewer) => (viewer as { role: string }).role === 'seller');
  const parts = world(t, { size: 100, maxWaiting: 1_000, binding: { filter }, execute });
  const letGo = async (): Promise<void> => {
    for (const { resolve } of executions.splice(0)) resolve();
    await settled();
  };
  const clients = await parts.lost(...upTo(count).map((id) => ({ id, role: 'seller' })));
  await parts.publish(upTo(EVENTS));
  for (const each of clients) each.connect();
  await inTurns(t, () => assert.ok(executions.length > 0));
  return { ...parts, letGo, clients: clients as [Client, Client] };
}

test('events that are replayed after a viewer was replaced are filtered by the new one', async (t) => {
  const { clients, publish, letGo } = await resuming(t, 2);
  const [client, other] = clients;
  client.become({ id: 1, role: 'guest' });
  await inTurns(t, async () => {
    await letGo();
    assert.deepEqual(other.heard, upTo(EVENTS));
  });
  const begun = client.numbers.length;
  assert.ok(begun < EVENTS / 2, `expected few to be under way, got ${begun}`);
  await publish([EVENTS + 1]);
  client.become({ id: 1, role: 'seller' });
  await publish([EVENTS + 2]);
  await inTurns(t, async () => {
    await letGo();
    assert.equal(client.numbers.at(-1), EVENTS + 2);
  });
  assert.deepEqual(client.heard, [...upTo(begun), EVENTS + 2]);
  for (const each of clients) each.disconnect();
});

test('a client that leaves amid a replay gets nothing more, and leaves nothing behind', async (t) => {
  const { clients, letGo, value } = await resuming(t, 1);
  const [client] = clients;
  client.disconnect();
  const begun = await value('executions');
  for (let turns = 0; turns < 20; turns += 1) await letGo();
  assert.deepEqual(client.heard, []);
  assert.equal(await value('executions'), begun);
  assert.equal(await value('subscribers'), 0);
  assert.equal(await value('groups'), 0);
});
