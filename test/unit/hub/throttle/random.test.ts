import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { ExecutionResult } from 'graphql';
import { HeldBytes } from '../../../../src/support/held-bytes.ts';
import { Random } from '../../../helpers/random.ts';
import { byRole, operation, settled, setUp } from '../parts.ts';
import { INTERVAL_MS, Listener, throttled } from './listener.ts';
import { expectInOrder } from '../../../helpers/numbers.ts';

const SEEDS = 60;
const STEPS = 300;
const KEYS = ['a', 'b', 'c', 'd'];
const ROLES = ['buyer', 'seller', 'guest'];

interface Published {
  readonly n: number;
  readonly key: string;
}

/** One time that a listener was in the group, and all events of that time that it may see. */
interface Membership {
  readonly listener: Listener;
  readonly due: Published[];
  isOver: boolean;
}

async function run(t: TestContext, seed: number): Promise<void> {
  const random = Random.of(seed, 'throttle');
  const isAsynchronous = random.chance(0.3);
  const isFiltered = random.chance(0.5);
  // With executions that wait, such a bound would have events skipped.
  const hasBound = !isAsynchronous && random.chance(0.4);
  const { hub, bus } = setUp({
    maxWaiting: hasBound ? 3 : 1_000,
    binding: {
      delivery: throttled,
      ...(isFiltered && { filter: byRole }),
    },
    execute: (event: Published, _, context): ExecutionResult | Promise<ExecutionResult> => {
      const { role } = context['viewer'] as unknown as { role: string };
      const result = { data: { n: event.n, role } };
      return isAsynchronous ? settled().then(() => result) : result;
    },
  });
  const asked = operation();
  const memberships: Membership[] = [];
  const present = (): Membership[] => memberships.filter(({ isOver }) => !isOver);
  let [now, n] = [0, 0];
  const keyOf = new Map<number, string>();

  const actions = {
    publish: (): void => {
      const key = random.pick(KEYS);
      const roles = ROLES.filter(() => random.chance(0.6));
      n += 1;
      keyOf.set(n, key);
      for (const { listener, due } of present()) {
        const { role } = listener.viewer as { readonly role: string };
        if (!isFiltered || roles.includes(role)) due.push({ n, key });
      }
      bus.carry('bids:id=a', n, { n, key, roles });
    },
    join: (): void => {
      if (present().length === 6) return;
      const listener = new Listener(() => now, { role: random.pick(ROLES) }).join(hub, asked);
      memberships.push({ listener, due: [], isOver: false });
    },
    leave: (): void => {
      if (present().length === 0) return;
      const membership = random.pick(present());
      membership.listener.leave();
      membership.isOver = true;
    },
    pass: async (): Promise<void> => {
      const ms = random.between(1, 60);
      now += ms;
      t.mock.timers.tick(ms);
      if (isAsynchronous) await settled();
    },
  };
  const names = ['publish', 'publish', 'publish', 'publish', 'join', 'leave', 'pass', 'pass'] as const;
  for (let step = 0; step < STEPS; step += 1) await actions[random.pick(names)]();
  for (let round = 0; round < 4; round += 1) {
    now += INTERVAL_MS;
    t.mock.timers.tick(INTERVAL_MS);
    for (let turn = 0; turn < 20; turn += 1) await settled();
  }

  for (const { listener } of present()) listener.leave();

  for (const [index, { listener, due, isOver }] of memberships.entries()) {
    const told = `seed ${seed}, member ${index}: ${listener.said}`;
    const numbers = listener.heard.map((one) => one.n);
    expectInOrder(numbers, told);
    for (const key of KEYS) {
      const heard = listener.heard.filter((one) => keyOf.get(one.n) === key);
      const mine = due.filter((one) => one.key === key).map((one) => one.n);
      let from = 0;
      for (const one of heard) {
        const at = mine.indexOf(one.n);
        assert.ok(at >= from, `${told}: ${one.n} is due, once`);
        assert.equal(one.skipped, at - from, `${told}: what ${one.n} stands for`);
        from = at + 1;
      }
      if (!isOver) assert.equal(from, mine.length, `${told}: the latest of ${key}, ${mine.at(-1)}`);
      if (isAsynchronous || hasBound) continue;
      for (const [place, { at }] of heard.entries()) {
        const next = heard[place + 1]?.at ?? Infinity;
        assert.ok(next - at >= INTERVAL_MS, `${told}: two of ${key} within ${next - at} ms`);
      }
    }
  }
}

test(`in the random courses of ${SEEDS} seeds, each key's latest comes, one in an interval, and tells what it stands for`, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const grow = t.mock.method(HeldBytes.prototype, 'grow');
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    await run(t, seed);
    const held = grow.mock.calls.reduce((sum, call) => sum + call.arguments[1], 0);
    assert.equal(held, 0, `seed ${seed}: nothing is held any more`);
    grow.mock.resetCalls();
  }
});
