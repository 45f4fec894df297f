import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Backlog, type TurnBudget } from '../../../src/hub/backlog.ts';
import { UNITS } from '../../../src/hub/work-budget.ts';
import { Metrics } from '../../../src/metrics.ts';
import { ownBytes } from '../../../src/support/byte-budget.ts';
import { turnsUntil } from '../../helpers/turns-until.ts';

const MAX_BYTES = 16 * 2 ** 20;

class FakeTurn implements TurnBudget {
  spent = 0;
  writing = false;
  /** How many messages had been taken when each turn began. */
  readonly begun: number[] = [];
  readonly #taken: readonly unknown[];

  constructor(taken: readonly unknown[]) {
    this.#taken = taken;
  }

  renew(): void {
    this.spent = 0;
    this.begun.push(this.#taken.length);
  }
}

class FakeSource {
  paused = false;
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
}

/** A backlog whose messages cost so many units each. */
function setUp(units: number, taker: Partial<ConstructorParameters<typeof Backlog<string>>[0]> = {}) {
  const taken: string[] = [];
  const turn = new FakeTurn(taken);
  const source = new FakeSource();
  const { backlog: gauge } = new Metrics();
  const take = (channel: string, payload: Buffer | string): boolean => {
    taken.push(`${channel}${payload.toString().slice(0, 10)}`);
    turn.spent += units;
    return true;
  };
  const bytes = ownBytes(MAX_BYTES);
  const whole = { take, goOn: () => true, finish: () => undefined };
  const backlog = new Backlog({ ...whole, ...taker }, turn, source, bytes, gauge);
  const waiting = async (): Promise<number | undefined> => (await gauge.get()).values[0]?.value;
  return { taken, turn, source, backlog, waiting, bytes };
}

test('the backlog hands a message on at once while the turn has units left', () => {
  const { taken, backlog } = setUp(UNITS.longestTurn / 2);
  backlog.add('a', '1');
  assert.deepEqual(taken, ['a1']);
  backlog.add('b', '2');
  assert.deepEqual(taken, ['a1', 'b2']);
  backlog.add('a', '3');
  assert.deepEqual(taken, ['a1', 'b2']);
});

test('messages that do not fit in a turn wait for the next ones, in order, and are counted', async () => {
  const { taken, turn, backlog, waiting } = setUp(UNITS.longestTurn / 8);
  const sent = Array.from({ length: 64 }, (_, index) => `${index}`);
  for (const n of sent) backlog.add('', n);
  assert.equal(taken.length, 8);
  await setImmediate();
  assert.equal(taken.length, 16);
  assert.equal(await waiting(), 48);
  await turnsUntil(() => taken.length >= 64);
  assert.deepEqual(taken, sent);
  assert.deepEqual(turn.begun, [0, 8, 16, 24, 32, 40, 48, 56]);
  assert.equal(await waiting(), 0);
});

test('a turn takes 64 messages even if each is for many subscribers, and of smaller ones no more than its units', async () => {
  const large = setUp(UNITS.turn / 16);
  const small = setUp(UNITS.turn / 128);
  for (let n = 0; n < 200; n += 1) {
    large.backlog.add('', `${n}`);
    small.backlog.add('', `${n}`);
  }
  assert.equal(large.taken.length, 64);
  assert.equal(small.taken.length, 128);
  await setImmediate();
  assert.equal(large.taken.length, 128, 'the next turn as many again');
});

test('the backlog hands on no message while results of an earlier turn are still being written to sockets', async () => {
  const { taken, turn, backlog } = setUp(1);
  turn.writing = true;
  backlog.add('', '1');
  for (let turns = 0; turns < 5; turns += 1) await setImmediate();
  assert.deepEqual(taken, []);
  turn.writing = false;
  await setImmediate();
  assert.deepEqual(taken, ['1']);
});

test('a backlog of too many messages pauses its source, until half of it is taken', async () => {
  const { taken, source, backlog } = setUp(UNITS.turn / 100);
  const count = 100 + 8_192;
  for (let n = 0; n < count; n += 1) backlog.add('', `${n}`);
  assert.equal(source.paused, false);
  backlog.add('', 'one more');
  assert.equal(source.paused, true);
  await turnsUntil(() => !source.paused);
  assert.equal(count + 1 - taken.length <= 4_096, true, `${taken.length} taken`);
  assert.equal(count + 1 - taken.length > 3_900, true, `${taken.length} taken`);
});

test('a backlog that can reserve no more bytes pauses its source too, and gives back what is taken', async () => {
  const { source, taken, backlog, bytes } = setUp(UNITS.longestTurn);
  const megabyte = 'x'.repeat(1024 * 1024);
  for (let n = 0; n < 17; n += 1) backlog.add('', megabyte);
  assert.equal(source.paused, false);
  backlog.add('', megabyte);
  assert.equal(source.paused, true);
  await turnsUntil(() => taken.length >= 9);
  assert.equal(source.paused, true);
  assert.equal(bytes.held, 9 * 2 ** 20);
  await setImmediate();
  assert.equal(source.paused, false);
});

test('the backlog pauses its source again if that goes on all the same', () => {
  const { source, backlog } = setUp(UNITS.longestTurn);
  for (let n = 0; n < 8_200; n += 1) backlog.add('', '');
  source.paused = false;
  backlog.add('', '');
  assert.equal(source.paused, true);
});

test('what has to come after the messages that wait is called once they have been taken, before later ones', async () => {
  const { taken, backlog } = setUp(UNITS.longestTurn / 2);
  const call = (name: string) => backlog.afterWaiting(() => void taken.push(name));
  call('at once');
  for (const n of ['1', '2', '3']) backlog.add('', n);
  call('then');
  backlog.add('', '4');
  await turnsUntil(() => taken.length >= 6);
  assert.deepEqual(taken, ['at once', '1', '2', '3', 'then', '4']);
});

/** A backlog whose messages take so many turns each. */
function setUpLong(turns: number) {
  const steps: string[] = [];
  let [current, left] = ['', 0];
  const goOn = (): boolean => {
    steps.push(current);
    left -= 1;
    return left <= 0;
  };
  const take = (channel: string, payload: Buffer | string): boolean => {
    current = `${channel}${payload.toString()}`;
    left = turns;
    return goOn();
  };
  const finish = (): void => {
    while (!goOn());
  };
  return { ...setUp(1, { take, goOn, finish }), steps };
}

test('a message that is not done in its turn goes on in the next ones, and others wait for that', async () => {
  const { backlog, steps, waiting } = setUpLong(3);
  backlog.add('a', '1');
  backlog.add('b', '2');
  backlog.afterWaiting(() => void steps.push('then'));
  assert.deepEqual(steps, ['a1']);
  await setImmediate();
  assert.deepEqual(steps, ['a1', 'a1']);
  assert.equal(await waiting(), 3, 'the one in hand counts');
  await turnsUntil(() => steps.length >= 7);
  assert.deepEqual(steps, ['a1', 'a1', 'a1', 'b2', 'b2', 'b2', 'then']);
  assert.equal(await waiting(), 0);
});

test('what has to come after the message in hand is called when that is done, and at once if it is finished', async () => {
  const { backlog, steps } = setUpLong(3);
  backlog.add('a', '1');
  backlog.afterWaiting(() => void steps.push('then'));
  backlog.finish();
  assert.deepEqual(steps, ['a1', 'a1', 'a1']);
  backlog.finish();
  await setImmediate();
  assert.deepEqual(steps, ['a1', 'a1', 'a1', 'then']);
});
