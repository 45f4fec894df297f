import assert from 'node:assert/strict';
import test from 'node:test';
import type { ExecutionResult } from 'graphql';
import { eventually } from '../../../helpers/eventually.ts';
import { Random } from '../../../helpers/random.ts';
import { UNITS } from '../../../../src/hub/work-budget.ts';
import { filterOn, operation, settled, setUpOn } from '../parts.ts';
import { busWith, keeping, Client, publish } from './world.ts';
import { expectInOrder } from '../../../helpers/numbers.ts';

const SEEDS = 20;
const STEPS = 400;
const KEYS = ['a', 'b', 'c'];
const ROLES = ['buyer', 'seller'];

/** One client, and what it should have heard: the numbers of its keys from its first greeting on. */
interface Account {
  readonly client: Client;
  readonly keys: readonly string[];
  readonly due: number[];
}

async function run(seed: number): Promise<void> {
  const random = Random.of(seed, 'resume');
  const isAsynchronous = random.chance(0.5);
  const readsViewer = random.chance(0.5);
  const size = random.pick([1_000, 1_000, 6]);
  const losesMessages = random.chance(0.3);
  // Each message is handed to one group in a turn.
  const cost = { comparisons: random.chance(0.5) ? UNITS.turn : 1, scans: 0 };
  const bus = busWith(size);
  const { hub } = setUpOn(bus, {
    streams: keeping(size),
    maxWaiting: 10_000,
    binding: { filter: filterOn(undefined, () => true, cost) },
    execute: (event: { n: number }, _, context): ExecutionResult | Promise<ExecutionResult> => {
      const { role } = context['viewer'] as unknown as { role: string };
      const result = { data: { ...event, ...(readsViewer && { role }) } };
      if (!isAsynchronous || random.chance(0.3)) return result;
      return (async () => {
        for (let turns = random.between(1, 8); turns > 0; turns -= 1) await settled();
        return result;
      })();
    },
  });
  const asked = operation();
  const accounts = Array.from({ length: 12 }, (_, id): Account => {
    const keys = KEYS.filter(() => random.chance(0.5));
    const client = new Client(hub, { id, role: random.pick(ROLES) }, asked);
    return { client, keys: keys.length > 0 ? keys : ['a'], due: [] };
  });

  let n = 0;
  const actions = {
    publish: async (): Promise<void> => {
      n += 1;
      const keys = KEYS.filter(() => random.chance(0.5));
      for (const account of accounts) {
        const isGreeted = account.client.greetings.length > 0;
        if (isGreeted && keys.some((key) => account.keys.includes(key))) account.due.push(n);
      }
      await publish(bus, n, ...keys);
    },
    connect: async (): Promise<void> => {
      const { client, keys } = random.pick(accounts);
      if (client.isConnected) client.disconnect();
      else client.connect(keys);
    },
    slow: async (): Promise<void> => {
      const { client } = random.pick(accounts);
      client.isBehind = !client.isBehind;
    },
    turn: settled,
    lose: async (): Promise<void> => {
      if (!losesMessages) return;
      if (bus.isLosing) bus.heal();
      else bus.isLosing = random.chance(0.2);
    },
  };
  const names = ['publish', 'publish', 'publish', 'connect', 'connect', 'slow', 'turn', 'lose'] as const;
  for (let step = 0; step < STEPS; step += 1) await actions[random.pick(names)]();

  if (bus.isLosing) bus.heal();
  for (const { client, keys } of accounts) {
    client.isBehind = false;
    if (!client.isConnected) client.connect(keys);
  }
  const last = n + 1;
  await eventually(async () => {
    await publish(bus, (n += 1), ...KEYS);
    for (const { client } of accounts) assert.ok((client.numbers.at(-1) ?? 0) >= last);
  });
  for (const { client, due } of accounts) {
    const told = `seed ${seed}, client ${JSON.stringify(client.viewer)}`;
    assert.deepEqual(client.errors, [], told);
    expectInOrder(client.numbers, told);
    assert.equal(new Set(client.numbers).size, client.numbers.length, `${told}: each once`);
    for (const missed of due.filter((number) => !client.numbers.includes(number))) {
      const next = client.heard.findIndex((heard) => heard !== undefined && heard > missed);
      assert.equal(client.heard[next - 1], undefined, `${told}: ${missed} is missing, and it was not told`);
      assert.ok(size < 1_000 || losesMessages, `${told}: ${missed} is missing, and was kept`);
    }
  }
}

test(`in the random courses of ${SEEDS} seeds, each client gets each event once and in order, or is told`, async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) await run(seed);
});
