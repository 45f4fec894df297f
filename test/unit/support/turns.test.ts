import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, it, type TestContext } from 'node:test';
import { upTo } from '../../helpers/numbers.ts';
import { Turns, type Job, type TurnTaker } from '../../../src/support/turns.ts';

/** Moved by jobs: the time that they take. */
let now = 0;
let done: string[] = [];

class Owner implements TurnTaker {
  spentUntil = 0;
  held = 0;
  resumed = 0;
  overruns = 0;
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
  readonly hold = (): number => (this.held += 1);
  readonly resume = (): number => (this.resumed += 1);
  readonly overrun = (): number => (this.overruns += 1);

  job(ms: number, least = 0): Job {
    return () => {
      done.push(this.name);
      now += ms;
      return least;
    };
  }

  /** Has as many such jobs run. */
  runs(turns: Turns, times: number, ms: number, least = 0): void {
    for (let index = 0; index < times; index += 1) turns.run(this, this.job(ms, least));
  }
}

/** 10 ms without jobs, and a turn of the event loop. */
async function pass(t: TestContext): Promise<void> {
  now += 10;
  t.mock.timers.tick(10);
  await nextTurn();
}

const turnsOf = (msPerSecond: number): Turns => new Turns({ msPerSecond, now: () => now });

beforeEach(() => {
  now = 1;
  done = [];
});

describe('Turns', () => {
  it('runs the jobs of a quiet owner at once', () => {
    const turns = turnsOf(50);
    const owner = new Owner('a');
    owner.runs(turns, 20, 0.1);
    assert.equal(done.length, 20);
    assert.equal(owner.held, 0);
  });

  it('lets a turn of the event loop take about 5 ms, and owners take turns after it', async () => {
    const turns = turnsOf(1_000);
    const [greedy, other] = [new Owner('a'), new Owner('b')];
    greedy.runs(turns, 6, 3);
    turns.run(other, other.job(1));
    assert.deepEqual(done, ['a', 'a']);
    assert.equal(greedy.held, 1);
    await nextTurn();
    assert.deepEqual(done, ['a', 'a', 'a', 'b', 'a']);
    assert.equal(other.resumed, 1);
    await nextTurn();
    assert.equal(done.length, 7);
    assert.equal(greedy.resumed, 1);
    assert.deepEqual([turns.holds(greedy), turns.holds(other)], [false, false]);
  });

  it('runs several quick jobs of an owner in its turn', async () => {
    const turns = turnsOf(1_000);
    const [slow, quick] = [new Owner('slow'), new Owner('quick')];
    slow.runs(turns, 3, 10);
    quick.runs(turns, 20, 0.1);
    await nextTurn();
    assert.deepEqual(done, ['slow', 'slow']);
    await nextTurn();
    assert.deepEqual(done.slice(2), [...upTo(10).map(() => 'quick'), 'slow']);
    await nextTurn();
    assert.deepEqual(
      done.slice(13),
      upTo(10).map(() => 'quick'),
    );
  });

  it('runs four jobs in a turn, of all owners, that something unmeasured follows', async () => {
    const turns = turnsOf(1_000);
    const [many, other] = [new Owner('a'), new Owner('b')];
    const job = many.job(0.001);
    for (let index = 0; index < 6; index += 1) {
      turns.run(many, () => {
        turns.countUnmeasured();
        return job();
      });
    }
    turns.run(other, other.job(0.001));
    assert.equal(done.join(''), 'aaaa');
    await nextTurn();
    assert.equal(done.join(''), 'aaaaaba');
  });

  it('runs no more than its share of an owner that is busy all the time', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const turns = turnsOf(50);
    const [greedy, other] = [new Owner('a'), new Owner('b')];
    greedy.runs(turns, 1_000, 5);
    const began = now;
    while (now - began < 20_000) await pass(t);
    // Five seconds' share at once, then one a second.
    const took = 5 * done.length;
    assert.ok(took >= 1_000 && took <= 50 * 26, `expected at most 1300 ms of 20 s, got ${took}`);
    await pass(t);
    turns.run(other, other.job(1));
    assert.equal(done.at(-1), 'b');
  });

  it('runs of owners that have a share in common no more than that, however many they are, and others besides', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const turns = turnsOf(50);
    const commonShare = { spentUntil: 0, msPerSecond: 500, burstMs: 1_000 };
    const crowd = upTo(100).map(() => Object.assign(new Owner('crowd'), { commonShare }));
    for (const owner of crowd) owner.runs(turns, 10, 10);
    const waits: number[] = [];
    const began = now;
    while (now - began < 10_000) {
      await pass(t);
      const asked = now;
      const other = new Owner('other');
      turns.run(other, other.job(1));
      while (turns.holds(other)) await nextTurn();
      waits.push(now - asked);
    }
    const most = 500 + (now - began) / 2;
    const took = 10 * done.filter((name) => name === 'crowd').length;
    assert.ok(took <= most + 20 && took > most / 2, `${took} ms of ${most}`);
    const longest = Math.max(...waits.slice(waits.length / 2));
    assert.ok(longest <= 100, `others wait for ${longest} ms, and not for a job of each`);
  });

  it('counts jobs that take little time by what they take at least', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const turns = turnsOf(50);
    const owner = new Owner('a');
    owner.runs(turns, 1_000, 0, 1 / 20);
    assert.equal(done.length, 101);
    for (let ms = 0; ms < 2_000; ms += 10) await pass(t);
    assert.ok(Math.abs(done.length - 141) <= 2, `expected 20 a second more, got ${done.length}`);
  });

  it('tells an owner of which more jobs wait than may, and runs none of an owner that has left', async () => {
    const turns = turnsOf(50);
    const owner = new Owner('a');
    for (let index = 0; index < 5; index += 1) turns.run(owner, owner.job(20), 3);
    assert.equal(owner.overruns, 1);
    assert.ok(turns.holds(owner));
    turns.forget(owner);
    assert.equal(owner.resumed, 1);
    await nextTurn();
    await nextTurn();
    assert.deepEqual(done, ['a']);
  });

  it('counts what was taken for an owner in another way, of its share and of the turn', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const turns = turnsOf(50);
    const [greedy, other] = [new Owner('a'), new Owner('b')];
    now += 1_000;
    turns.charge(greedy, 1_000);
    turns.run(greedy, greedy.job(1));
    turns.run(other, other.job(1));
    assert.deepEqual(done, [], 'the turn has no room left');
    await nextTurn();
    assert.deepEqual(done, ['b'], 'the share of the first is spent');
    while (done.length < 2) await pass(t);
    assert.deepEqual(done, ['b', 'a']);
  });

  it('gives an owner the share and the burst that it has of its own', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const turns = turnsOf(50);
    const owner = Object.assign(new Owner('a'), { msPerSecond: 200, burstMs: 500 });
    owner.runs(turns, 1_000, 5);
    const began = now;
    while (now - began < 2_000) await pass(t);
    const took = 5 * done.length;
    assert.ok(Math.abs(took - 500) <= 50, `expected 100 ms at once and 200 a second, got ${took}`);
    turns.charge(owner, 1_000);
    assert.equal(owner.spentUntil - now > 4_500, true);
    turns.forget(owner);
  });

  it('runs no job that has left, and the others of its owner in their order', async () => {
    const turns = turnsOf(1_000);
    const [owner, other] = [new Owner('a'), new Owner('b')];
    owner.runs(turns, 1, 5);
    const places = [other, owner, owner].map((each) => turns.run(each, each.job(1)));
    for (const [index, each] of [other, owner].entries()) {
      const place = places[index];
      assert.ok(place !== undefined);
      turns.leave(each, place);
    }
    assert.deepEqual([turns.holds(other), other.resumed, turns.holds(owner)], [false, 1, true]);
    await nextTurn();
    assert.deepEqual(done, ['a', 'a']);
  });

  it('keeps no timer for an owner that has left', async (t) => {
    const made = t.mock.method(globalThis, 'setTimeout');
    const cleared = t.mock.method(globalThis, 'clearTimeout');
    const turns = turnsOf(50);
    const owner = new Owner('a');
    owner.runs(turns, 2, 0, 60);
    await nextTurn();
    const [nap] = made.mock.calls;
    assert.ok(nap !== undefined && turns.holds(owner));
    turns.forget(owner);
    assert.ok(cleared.mock.calls.some(({ arguments: [timer] }) => timer === nap.result));
  });
});
