import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { ExecutionResult } from 'graphql';
import { Random } from '../../../helpers/random.ts';
import { expectInOrder, upTo } from '../../../helpers/numbers.ts';
import { settled } from '../parts.ts';
import { inTurns } from '../../turns.ts';
import { world } from '../resume/world.ts';

const SEEDS = 15;
const STEPS = 300;
const KEYS = ['a', 'b', 'c'];
const THROTTLE_MS = 5;

/** Events supersede each other if their numbers have the same remainder. */
const LANES = 3;
const delivery = {
  keyOf: ({ n }: { readonly n?: unknown }): string => `${Number(n) % LANES}`,
  throttleMs: THROTTLE_MS,
  onSlow: 'DISCONNECT',
} as const;

test('one that resumes gets the latest of each key that it has missed, and is told of the others', async (t) => {
  const { lostOne, publish, value } = world(t, { binding: { delivery } });
  const client = await lostOne();
  await publish(upTo(20));
  client.connect();
  await inTurns(t, () => assert.deepEqual(client.heard, [18, 19, 20]));
  assert.equal(client.skipped, 17);
  assert.equal(await value('executions'), 3);
});

for (const [executed, heard] of [
  ['at once', [1, 5, 6, 7]],
  ['later', [1]],
] as const) {
  test(`what is executed ${executed} and held when a pod drains comes once, in all`, async (t) => {
    const { client: make, publish } = world(t, {
      binding: { delivery: { ...delivery, throttleMs: 600_000 } },
      execute: (event: object) =>
        executed === 'later' ? settled().then(() => ({ data: { ...event } })) : { data: { ...event } },
    });
    const client = make().connect();
    await settled();
    await publish(upTo(7));
    await inTurns(t, () => assert.deepEqual(client.heard, [1]));
    client.flush();
    assert.deepEqual(client.heard, heard);
    client.disconnect();
    client.connect();
    await inTurns(t, () => assert.deepEqual(client.heard, [1, 5, 6, 7]));
    await inTurns(t, () => assert.equal(client.greetings.length, 2));
    assert.equal(client.skipped, 3);
  });
}

test('a replay of the last events has the latest of each key, and goes on with what comes', async (t) => {
  const { client: make, publish } = world(t, { keepsAll: true, binding: { delivery, replay: 5 } });
  await publish(upTo(9));
  const client = make().connect();
  await inTurns(t, () => assert.deepEqual(client.heard, [7, 8, 9]));
  assert.equal(client.skipped, 2);
  await publish([10]);
  await inTurns(t, () => assert.deepEqual(client.heard, [7, 8, 9, 10]));
});

async function run(t: TestContext, seed: number): Promise<void> {
  const random = Random.of(seed, 'throttled resume');
  const isAsynchronous = random.chance(0.5);
  const { client: make, publish } = world(t, {
    size: 1_000,
    maxWaiting: 10_000,
    binding: { delivery },
    execute: (event: { n: number }): ExecutionResult | Promise<ExecutionResult> =>
      isAsynchronous && random.chance(0.5) ? settled().then(() => ({ data: event })) : { data: event },
  });
  const accounts = Array.from({ length: 8 }, (_, id) => {
    const keys = KEYS.filter(() => random.chance(0.5));
    return { client: make({ id }), keys: keys.length > 0 ? keys : ['a'], due: [] as number[] };
  });
  let n = 0;
  const actions = {
    publish: async (): Promise<void> => {
      n += 1;
      const keys = KEYS.filter(() => random.chance(0.5));
      for (const { client, keys: mine, due } of accounts) {
        if (client.greetings.length > 0 && keys.some((key) => mine.includes(key))) due.push(n);
      }
      if (keys.length > 0) await publish([n], ...keys);
    },
    connect: (): void => {
      const { client, keys } = random.pick(accounts);
      if (client.isConnected) client.disconnect();
      else client.connect(keys);
    },
    slow: (): void => {
      const { client } = random.pick(accounts);
      client.isBehind = !client.isBehind;
    },
    turn: settled,
    pass: () => t.mock.timers.tick(1),
  };
  const names = ['publish', 'publish', 'publish', 'publish', 'connect', 'slow', 'turn', 'pass'] as const;
  for (let step = 0; step < STEPS; step += 1) await actions[random.pick(names)]();
  for (const { client, keys } of accounts) {
    client.isBehind = false;
    if (!client.isConnected) client.connect(keys);
  }
  await inTurns(t, () => {
    for (const { client, due } of accounts) {
      const told = `seed ${seed}, client ${JSON.stringify(client.viewer)}`;
      const { numbers, errors, skipped } = client;
      assert.deepEqual(errors, [], told);
      assert.ok(!client.heard.includes(undefined), `${told}: no gap`);
      expectInOrder(numbers, told);
      for (let lane = 0; lane < LANES; lane += 1) {
        const lastOf = (all: readonly number[]) => all.findLast((one) => one % LANES === lane);
        assert.equal(lastOf(numbers), lastOf(due), `${told}: the latest`);
      }
      const accounted = numbers.length + skipped;
      // A connection that is lost between two results of one interval takes with it what the second would have told.
      const isExact = isAsynchronous ? accounted <= due.length : accounted === due.length;
      assert.ok(isExact, `${told}: ${due.length} came or were told to be left out, got ${accounted}`);
      assert.equal(new Set(numbers).size, numbers.length, `${told}: each once`);
    }
  });
}

test(`in the random courses of ${SEEDS} seeds, clients that resume get each key's latest, and are told of all others`, async (t) => {
  for (let seed = 1; seed <= SEEDS; seed += 1) await run(t, seed);
});
