import assert from 'node:assert/strict';
import test from 'node:test';
import { ByteBudget, type ByteSource } from '../../../src/support/byte-budget.ts';
import { Living } from '../../helpers/living.ts';
import { Random } from '../../helpers/random.ts';

const [ann, bob, cai] = [{ name: 'ann' }, { name: 'bob' }, { name: 'cai' }];

/** Reserves, and notes who has been let in. */
function reserving(source: ByteSource) {
  const started: string[] = [];
  const reserve = async (bytes: number, owner: { name: string }, signal?: AbortSignal) => {
    const reservation = await source.reserve(bytes, owner, signal);
    started.push(owner.name);
    return reservation;
  };
  return { started, reserve };
}

test('a source holds its least whatever others hold, and of the rest what others leave', () => {
  const budget = new ByteBudget(100);
  const [history, bodies] = [budget.source({ least: 30 }), budget.source({ least: 20 })];
  const held = [ann, bob, cai].map((owner) => history.tryReserve(26, owner));
  assert.deepEqual([history.held, held.includes(undefined)], [78, false]);
  assert.equal(history.tryReserve(3, {}), undefined);
  assert.ok(history.tryReserve(2, {}));
  assert.equal(bodies.tryReserve(20, ann)?.bytes, 20);
  assert.equal(bodies.tryReserve(1, bob), undefined);
});

test('what one source gives back of the rest goes to those who wait in another', async () => {
  const budget = new ByteBudget(100);
  const [history, bodies] = [budget.source({ least: 50 }), budget.source({ least: 20 })];
  const [first, second] = [history.tryReserve(50, ann), history.tryReserve(30, bob)];
  bodies.tryReserve(20, ann);
  const { started, reserve } = reserving(bodies);
  const waiting = reserve(20, bob);
  first?.resize(31);
  assert.deepEqual([bodies.waiting, history.held], [1, 61]);
  second?.release();
  assert.equal((await waiting).bytes, 20);
  assert.deepEqual([started, bodies.waiting, bodies.held], [['bob'], 0, 40]);
});

test('owners that wait take turns, and one that waits for itself holds up nobody', async () => {
  const source = new ByteBudget(40).source({ least: 40, mostOfOwner: 20 });
  const { started, reserve } = reserving(source);
  const held = await Promise.all([reserve(20, ann), reserve(10, bob)]);
  const waiting = [reserve(20, ann), reserve(20, ann), reserve(10, bob), reserve(20, cai)];
  await waiting[2];
  assert.deepEqual([started.splice(0), source.waiting], [['ann', 'bob', 'bob'], 3]);
  held[1].release();
  held[0].release();
  held[0].release();
  (await waiting[3])?.release();
  (await waiting[0])?.release();
  await waiting[1];
  assert.deepEqual([started, source.held], [['cai', 'ann', 'ann'], 30]);
});

test('nobody overtakes the one whose turn it is, and one that leaves lets the next in', async () => {
  const source = new ByteBudget(10).source({ least: 10 });
  const { started, reserve } = reserving(source);
  await reserve(6, ann);
  const leaving = new AbortController();
  const left = reserve(8, bob, leaving.signal);
  const next = reserve(4, cai);
  assert.equal(source.tryReserve(1, {}), undefined);
  leaving.abort(new Error('left'));
  await assert.rejects(left, /left/);
  await next;
  assert.deepEqual([started, source.waiting, source.held], [['ann', 'cai'], 0, 10]);
});

test('a reservation changes its size within the room that there is', () => {
  const source = new ByteBudget(10).source({ least: 10, mostOfOwner: 8 });
  const reservation = source.tryReserve(2, ann);
  assert.deepEqual([reservation?.resize(9), reservation?.bytes], [false, 2]);
  assert.deepEqual([reservation?.resize(8), source.held], [true, 8]);
  reservation?.release();
  assert.deepEqual([reservation?.bytes, source.held], [0, 0]);
});

test('of an owner that holds nothing any more nothing is kept, however often it gives back', async () => {
  const source = new ByteBudget(100).source({ least: 100 });
  const living = new Living();
  const reserve = (bytes: number): void => {
    const owner = {};
    living.add(owner);
    const reservation = source.tryReserve(bytes, owner);
    for (let times = 0; times < 2; times += 1) reservation?.release();
  };
  for (const bytes of [7, 0]) reserve(bytes);
  assert.equal(await living.count(), 0);
});

test('more than may be waited for is refused, as are leasts beyond the total', async () => {
  const budget = new ByteBudget(10);
  const source = budget.source({ least: 8, mostOfOwner: 4 });
  await assert.rejects(source.reserve(5, ann), /expected at most 4 bytes, got 5/);
  const lavish = new ByteBudget(10).source({ least: 3 });
  await assert.rejects(lavish.reserve(4, ann), /expected at most 3 bytes, got 4/);
  assert.equal(lavish.tryReserve(10, ann)?.bytes, 10);
  assert.throws(() => budget.source({ least: 3 }), /expected sources of at most 10 bytes, got 11/);
});

test('with every source full, all that wait get in, and never more is held than the total', async () => {
  const random = new Random(7);
  const budget = new ByteBudget(1_000);
  const sources = [300, 200, 100].map((least) => budget.source({ least, mostOfOwner: least / 2 }));
  const owners = [ann, bob, cai];
  const pick = <Item>(items: readonly Item[]) => items[random.between(0, items.length - 1)] as Item;
  const work = async (): Promise<void> => {
    const source = pick(sources);
    const reservation = await source.reserve(random.between(1, source.mostOfOwner), pick(owners));
    for (let turns = random.between(0, 4); turns > 0; turns -= 1) await Promise.resolve();
    reservation.resize(random.between(0, source.mostOfOwner));
    const held = sources.map((one) => one.held);
    assert.ok(held.reduce((sum, bytes) => sum + bytes) <= 1_000, `${held.join()} are held`);
    await Promise.resolve();
    reservation.release();
  };
  await Promise.all(Array.from({ length: 5_000 }, work));
  assert.deepEqual(
    sources.map(({ held, waiting }) => [held, waiting]),
    [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
  );
});
