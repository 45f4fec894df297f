import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { ExecutionResult } from 'graphql';
import { ReadSet } from '../../../../src/lazy/reads.ts';
import { upTo } from '../../../helpers/numbers.ts';
import { operation, settled, setUpOn } from '../parts.ts';
import { inTurns } from '../../turns.ts';
import { Client, heldBus, publish } from './world.ts';

const EVENTS = 50;

/** What sellers alone may see; each execution waits until it is let go. */
function setUpHeld(t: TestContext) {
  const bus = heldBus(t, 100);
  const held: (() => void)[] = [];
  const reads = new ReadSet();
  reads.add('value', ['role']);
  const { hub, value } = setUpOn(bus, {
    maxWaiting: 1_000,
    binding: {
      filter: () => ({ reads, passes: (_event, viewer) => (viewer as { role: string }).role === 'seller' }),
    },
    execute: async (event: { n: number }): Promise<ExecutionResult> => {
      await new Promise<void>((resolve) => held.push(resolve));
      return { data: event };
    },
  });
  const letGo = async (): Promise<void> => {
    for (const resolve of held.splice(0)) resolve();
    await settled();
  };
  /** Has missed events, and resumes: the first of them are being executed. */
  const resuming = async (id: number): Promise<Client> => {
    const client = new Client(hub, { id, role: 'seller' });
    client.connect('a', asked);
    await settled();
    client.disconnect();
    return client;
  };
  const asked = operation();
  return { bus, asked, held, letGo, resuming, value };
}

test('events that are replayed after a viewer was replaced are filtered by the new one', async (t) => {
  const { bus, asked, held, letGo, resuming } = setUpHeld(t);
  const [client, other] = [await resuming(1), await resuming(2)];
  for (const n of upTo(EVENTS)) await publish(bus, n, 'a');
  for (const each of [client, other]) each.connect('a', asked);
  await inTurns(t, () => assert.ok(held.length > 0));
  client.become({ id: 1, role: 'guest' });
  await inTurns(t, async () => {
    await letGo();
    assert.deepEqual(other.heard, upTo(EVENTS));
  });
  const begun = client.numbers.length;
  assert.ok(begun < EVENTS / 2, `expected few to be under way, got ${begun}`);
  await publish(bus, EVENTS + 1, 'a');
  client.become({ id: 1, role: 'seller' });
  await publish(bus, EVENTS + 2, 'a');
  await inTurns(t, async () => {
    await letGo();
    assert.equal(client.numbers.at(-1), EVENTS + 2);
  });
  assert.deepEqual(client.heard, [...upTo(begun), EVENTS + 2]);
  for (const each of [client, other]) each.disconnect();
});

test('a client that leaves amid a replay gets nothing more, and leaves nothing behind', async (t) => {
  const { bus, asked, held, letGo, resuming, value } = setUpHeld(t);
  const client = await resuming(1);
  for (const n of upTo(EVENTS)) await publish(bus, n, 'a');
  client.connect('a', asked);
  await inTurns(t, () => assert.ok(held.length > 0));
  client.disconnect();
  const begun = await value('executions');
  for (let turns = 0; turns < 20; turns += 1) await letGo();
  assert.deepEqual(client.heard, []);
  assert.equal(await value('executions'), begun);
  assert.equal(await value('subscribers'), 0);
  assert.equal(await value('groups'), 0);
});
