import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairLimiter } from '../../../src/support/fair-limiter.ts';
import { PATIENCE_MS } from '../../helpers/eventually.ts';
import { range, upTo } from '../../helpers/numbers.ts';
import { Random } from '../../helpers/random.ts';

const [ann, bob, cai] = [{ name: 'ann' }, { name: 'bob' }, { name: 'cai' }];

/** A limiter, and work for it that takes a place each and says when it has started. */
function working(maxRunning: number) {
  const limiter = new FairLimiter(maxRunning, () => 0);
  const started: string[] = [];
  const work = (owner: { name: string }, name: string) =>
    limiter.whenFree(owner, () => {
      started.push(owner.name + name);
      limiter.take(owner);
    });
  return { limiter, started, work };
}

test('a single owner gets half of the places, and one that comes later finds a place free', () => {
  const { limiter, started, work } = working(6);
  for (const name of '123456') work(ann, name);
  assert.deepEqual(started, ['ann1', 'ann2', 'ann3']);
  assert.equal(limiter.loadOf(ann), 6);
  for (const name of '123') work(bob, name);
  assert.deepEqual(started.slice(3), ['bob1', 'bob2']);
  work(cai, '1');
  assert.deepEqual(started.slice(5), ['cai1']);
  assert.deepEqual([limiter.running, limiter.waiting], [6, 4]);
});

test("with one place, it goes to one owner after the other, and to each one's work in order", () => {
  const { limiter, started, work } = working(1);
  for (const name of '1234') work(ann, name);
  for (const name of '12') work(bob, name);
  work(cai, '1');
  assert.deepEqual(started, ['ann1']);
  for (const owner of [ann, ann, bob, cai, ann, bob]) limiter.release(owner);
  assert.deepEqual(started.slice(1), ['ann2', 'bob1', 'cai1', 'ann3', 'bob2', 'ann4']);
});

test('an owner that holds too many places is passed over until others are free', () => {
  const { limiter, started, work } = working(4);
  for (const name of '1234') work(ann, name);
  work(bob, '1');
  work(cai, '1');
  assert.deepEqual(started, ['ann1', 'ann2', 'bob1', 'cai1']);
  work(bob, '2');
  limiter.release(cai);
  assert.deepEqual(started.slice(4), [], 'ann holds 2 and bob 1, and only 1 is free');
  limiter.release(bob);
  assert.deepEqual(started.slice(4), ['bob2'], 'bob holds none any more');
  limiter.release(bob);
  limiter.release(ann);
  assert.deepEqual(started.slice(5), ['ann3']);
});

test('work that has left does not start, and its owner has no turn', () => {
  const { limiter, started, work } = working(1);
  work(ann, '1');
  const leave = [work(bob, '1'), work(bob, '2')];
  work(cai, '1');
  for (const leaves of leave) leaves?.();
  assert.equal(limiter.waiting, 1);
  assert.equal(limiter.loadOf(bob), 0);
  limiter.release(ann);
  assert.deepEqual(started, ['ann1', 'cai1']);
});

test('work that needs no place lets the next begin at once', () => {
  const { limiter, started, work } = working(1);
  work(ann, '1');
  assert.ok(limiter.whenFree(bob, () => started.push('needs none')));
  work(bob, '2');
  work(cai, '1');
  limiter.release(ann);
  assert.deepEqual(started, ['ann1', 'needs none', 'cai1']);
  limiter.release(cai);
  assert.deepEqual(started.slice(3), ['bob2']);
});

test('work that releases its place while it starts lets the next begin, in order', () => {
  const limiter = new FairLimiter(1, () => 0);
  const started: number[] = [];
  limiter.take(ann);
  for (let name = 0; name < 100_000; name += 1) {
    limiter.whenFree(ann, () => {
      started.push(name);
      limiter.take(ann);
      limiter.release(ann);
    });
  }
  limiter.release(ann);
  assert.deepEqual(started, range(0, 100_000));
  assert.deepEqual([limiter.running, limiter.waiting, limiter.loadOf(ann)], [0, 0, 0]);
});

test('release and leaving take the same time however much waits', { timeout: PATIENCE_MS }, () => {
  const { limiter, started, work } = working(2);
  work(ann, '');
  const leaving = Array.from({ length: 200_000 }, () => work(ann, ''));
  for (let name = 0; name < 100_000; name += 1) leaving[name * 2]?.();
  for (let name = 0; name < 100_000; name += 1) limiter.release(ann);
  assert.equal(started.length, 100_001);
  assert.equal(limiter.waiting, 0);
});

test('however owners come and go, no more run than may, each in its order, and all get a place in the end', () => {
  const dice = new Random(7);
  const random = (below: number): number => dice.between(0, below - 1);
  const limiter = new FairLimiter(5, () => 0);
  const owners = upTo(8).map(() => ({ asked: 0, started: [] as number[], left: new Set<number>() }));
  const running: (typeof owners)[number][] = [];
  const release = (): void => {
    const [owner] = running.splice(random(running.length), 1);
    if (owner !== undefined) limiter.release(owner);
  };
  for (let step = 0; step < 20_000; step += 1) {
    const owner = owners[Math.min(random(8), random(8))];
    if (owner === undefined || random(2) === 0) {
      release();
      continue;
    }
    const name = (owner.asked += 1);
    const leave = limiter.whenFree(owner, () => {
      owner.started.push(name);
      if (random(3) === 0) return;
      limiter.take(owner);
      running.push(owner);
      assert.ok(running.length <= 5);
    });
    if (leave !== undefined && random(4) === 0) {
      leave();
      owner.left.add(name);
    }
  }
  while (running.length > 0) release();
  assert.deepEqual([limiter.running, limiter.waiting], [0, 0]);
  for (const { asked, started, left } of owners) {
    const stayed = upTo(asked).filter((name) => !left.has(name));
    assert.deepEqual(started, stayed);
  }
});

test('work that has waited and takes no place is started for some time in one turn, and goes on in the next', async () => {
  let now = 0;
  const limiter = new FairLimiter(1, () => now);
  const started: number[] = [];
  limiter.take(bob);
  for (let index = 0; index < 8; index += 1) {
    limiter.whenFree(ann, () => {
      now += 4;
      started.push(index);
    });
  }
  limiter.release(bob);
  assert.equal(started.length, 3, 'of 4 ms each, where a turn has 10');
  limiter.take(bob);
  limiter.release(bob);
  assert.equal(started.length, 3, 'still the same turn');
  await nextTurn();
  assert.equal(started.length, 6);
  await nextTurn();
  assert.deepEqual(started, range(0, 8));
});
