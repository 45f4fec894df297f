import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupDescription } from '../../../../src/ingest/kafka/driver.ts';
import { GroupBus } from '../../../../src/ingest/kafka/group-bus.ts';
import { Metrics } from '../../../../src/metrics.ts';
import { stillClock } from '../../support/still-clock.ts';
import { readableLog } from '../parts.ts';
import { turnsUntil } from '../../../helpers/turns-until.ts';

/** A group, and a Redis that keeps an id, of which a test says what is there. */
function setUp(group: GroupDescription, kept?: string, configured?: string) {
  const { log, lines } = readableLog('info');
  const { clock, sleeps, wakeAll } = stillClock();
  const state = { group, kept, now: 0, refuses: false };
  const metrics = new Metrics();
  const busId = async (proposed?: string) => {
    if (state.refuses) return undefined;
    return (state.kept ??= proposed);
  };
  const driver = { describeGroup: async () => state.group };
  const held = { ...clock, now: () => state.now };
  const bus = new GroupBus({ groupId: 'sluice', driver, configured, busId, metrics, log, clock: held });
  const foreign = async () => {
    const { values } = await metrics.foreignPositions.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels['bus'], value]));
  };
  const asleep = async (): Promise<void> => {
    await turnsUntil(() => sleeps.length > 0);
  };
  /** Resolves when what it has woken sleeps again. */
  const wake = async (): Promise<void> => {
    await asleep();
    wakeAll();
    await asleep();
  };
  return { bus, state, lines, foreign, wake, refusal: () => bus.refusal(['bids']) };
}

const of = (hasMembers: boolean, ...buses: readonly (string | undefined)[]): GroupDescription => ({
  hasMembers,
  texts: buses.map((bus) => `sluice1 A 1${bus === undefined ? '' : ` bus=${bus}`}`),
});

test('a group with members of another bus is not joined: the reason says what was expected, what came, and what to do', async () => {
  const { refusal, lines, foreign } = setUp(of(true, 'theirs', undefined), 'ours');
  const reason =
    'consumer group sluice: expected members of bus ours of its Redis, got those of bus theirs; set another KAFKA_GROUP_ID, or BUS_ID=theirs if they are to move to this Redis';
  assert.equal(await refusal(), reason);
  assert.equal(await refusal(), reason);
  assert.deepEqual(
    lines.map(({ msg, reason: told }) => [msg, told]),
    [['the consumer group is not joined', reason]],
  );
  assert.deepEqual(await foreign(), { none: 1, other: 1 });
});

test('it is joined by pods of its bus, by those whose BUS_ID names it, and where no member has named one', async () => {
  assert.equal(await setUp(of(true, 'ours'), 'ours').refusal(), undefined);
  assert.equal(await setUp(of(true, 'theirs'), 'ours', 'theirs').refusal(), undefined);
  assert.equal(await setUp(of(true, undefined), 'ours').refusal(), undefined);
  assert.match(
    (await setUp(of(true, 'theirs'), 'theirs', 'ours').refusal()) ?? '',
    /bus ours of BUS_ID, got/,
  );
});

test('a group of which all have gone is joined with another bus', async () => {
  const { refusal, bus } = setUp(of(false, 'theirs'), 'ours');
  assert.equal(await refusal(), undefined);
  assert.equal(bus.id, 'ours');
});

test('the first pod makes an id up, which Redis keeps', async () => {
  const { refusal, bus, state } = setUp(of(false));
  assert.equal(await refusal(), undefined);
  assert.match(bus.id ?? '', /^[\w-]{36}$/);
  assert.equal(state.kept, bus.id);
});

test('a pod whose Redis came back empty, and has got another id since, joins the members of that one', async () => {
  const { refusal, state, bus } = setUp(of(true, 'former'), 'former');
  assert.equal(await refusal(), undefined);
  state.kept = 'later';
  state.group = of(true, 'later');
  assert.equal(await refusal(), undefined);
  assert.equal(bus.id, 'later');
  state.group = of(true, 'theirs');
  assert.match((await refusal()) ?? '', /members of bus later of its Redis, got those of bus theirs/);
});

test('a pod whose Redis has come back empty waits until one that runs has written the id again', async () => {
  const { refusal, state, bus } = setUp(of(true, 'ours'));
  assert.match(
    (await refusal()) ?? '',
    /expected members of a bus whose id this Redis knows, got those of bus ours/,
  );
  assert.equal(state.kept, undefined);
  state.kept = 'ours';
  assert.equal(await refusal(), undefined);
  assert.equal(bus.id, 'ours');
});

test('a pod writes the id into a Redis that has come back empty, and says so if another one is there', async (t) => {
  const { bus, state, lines, refusal, wake } = setUp(of(false), 'ours');
  await refusal();
  const ending = new AbortController();
  t.after(() => ending.abort());
  const watching = bus.watch(['bids'], assert.fail, ending.signal);
  state.kept = undefined;
  await wake();
  assert.equal(state.kept, 'ours');
  state.kept = 'theirs';
  for (let looks = 0; looks < 3; looks += 1) await wake();
  ending.abort();
  await watching;
  const told = lines.filter(({ level }) => level === 50);
  assert.deepEqual(
    told.map(({ msg, expected, got }) => [msg, expected, got]),
    [['Redis has the id of another bus than the group was joined for', 'ours', 'theirs']],
  );
});

test('members of another bus that are in the group all the same are told and counted', async (t) => {
  const { bus, state, lines, refusal, wake, foreign } = setUp(of(false), 'ours');
  await refusal();
  const ending = new AbortController();
  t.after(() => ending.abort());
  const watching = bus.watch(['bids'], assert.fail, ending.signal);
  state.group = of(true, 'ours', 'theirs', 'theirs');
  for (let looks = 0; looks < 3; looks += 1) {
    state.now += 60_000;
    await wake();
  }
  ending.abort();
  await watching;
  assert.deepEqual(await foreign(), { none: 0, other: 2 });
  assert.equal(lines.filter(({ got }) => got === 'theirs').length, 1);
  // One of this bus that is started anew joins nevertheless.
  assert.equal(await refusal(), undefined);
});

test('a pod that has waited beside another bus does not take its place when that is away for a moment', async () => {
  const { refusal, state } = setUp(of(true, 'theirs'), 'ours');
  await refusal();
  state.now += 60_000;
  state.group = of(false, 'theirs');
  assert.match((await refusal()) ?? '', /got those of bus theirs/);
});

test('a pod that has waited beside another bus does not join its members when Kafka has deleted their positions, with all topics', async () => {
  const { refusal, state } = setUp(of(true, 'theirs'), 'ours');
  await refusal();
  state.group = of(true);
  assert.match((await refusal()) ?? '', /got those of bus theirs/);
});

test('members that were killed keep a pod out for no longer than they count as such', async () => {
  const { refusal, state } = setUp(of(true, 'theirs'), 'ours');
  assert.notEqual(await refusal(), undefined);
  state.now += 30_000;
  state.group = of(false, 'theirs');
  assert.equal(await refusal(), undefined);
});

test('where Redis does not permit to keep an id the group is joined, and BUS_ID is asked for', async () => {
  const { refusal, state, lines, bus } = setUp(of(true, undefined));
  state.refuses = true;
  assert.equal(await refusal(), undefined);
  assert.equal(bus.id, undefined);
  assert.match(String(lines.at(-1)?.['msg']), /set BUS_ID/);
});

test('a pod that has joined while Redis refused to tell the id joins again once Redis tells it, even beside members of another bus', async (t) => {
  const { bus, state, refusal, wake } = setUp(of(true, undefined), 'ours');
  state.refuses = true;
  await refusal();
  const ending = new AbortController();
  t.after(() => ending.abort());
  let named = 0;
  const watching = bus.watch(['bids'], () => (named += 1), ending.signal);
  await wake();
  assert.deepEqual([bus.id, named], [undefined, 0]);
  state.refuses = false;
  await wake();
  assert.deepEqual([bus.id, named], ['ours', 1]);
  ending.abort();
  await watching;
  state.group = Promise.reject(new Error('Kafka is away')) as never;
  await assert.rejects(refusal(), /Kafka is away/);
  state.group = of(true, 'theirs');
  assert.equal(await refusal(), undefined);
  assert.match((await refusal()) ?? '', /got those of bus theirs/, 'another time it is asked again');
});
