import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { ExecutionResult } from 'graphql';
import type { HistoryRead } from '../../../../src/bus/history.ts';
import { decodeMessage, type Message } from '../../../../src/events/message.ts';
import { ChannelOffsets } from '../../../../src/hub/dedupe.ts';
import { RecordingRoom } from '../../../../src/hub/resume/recording-room.ts';
import { Recording } from '../../../../src/hub/resume/recording.ts';
import type { RecordedChannel } from '../../../../src/hub/resume/recording-request.ts';
import { Recordings } from '../../../../src/hub/resume/recordings.ts';
import { ReplayedResults } from '../../../../src/hub/resume/replayed-results.ts';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { ReadSet } from '../../../../src/lazy/reads.ts';
import type { SubscriptionPlan } from '../../../../src/hub/subscription-plan.ts';
import { ownBytes } from '../../../../src/support/byte-budget.ts';
import { settled } from '../parts.ts';
import { inTurns } from '../../turns.ts';
import { payloadOf, wishOf, world, type Client } from './world.ts';
import { upTo } from '../../../helpers/numbers.ts';
import { defaultBytes } from '../../../../src/hub/hub-bytes.ts';

const PLAN = {} as SubscriptionPlan;

const payload = (n: number): string => payloadOf(n, {}, { h: ['abc', n] });

test('subscribers that resume skip no event, however few may wait', async (t) => {
  const { lostOne, publish } = world(t, {
    maxWaiting: 2,
    execute: (event: object) => settled().then(() => ({ data: { ...event } })),
  });
  const client = await lostOne();
  await publish(upTo(20));
  client.connect();
  await inTurns(t, () => assert.equal(client.numbers.at(-1), 20));
  assert.deepEqual([client.errors, client.heard], [[], upTo(20)]);
});

test('however many cursors of no use come, the bus is asked where the topic stands, once for all of them', async (t) => {
  const { bus, client: make, publish } = world(t);
  const client = make().connect();
  await settled();
  await publish([1]);
  const [, epoch] = client.cursor?.split('.') ?? [];
  const read = t.mock.method(bus, 'readHistory');
  const bogus = upTo(500).map((n) => {
    const hostile = make();
    hostile.cursor = n % 2 === 0 ? '1.abc.0' : `1.${epoch}.zzzzzzzzzz`;
    hostile.connect();
    return hostile;
  });
  await inTurns(t, () => assert.ok(bogus.every(({ greetings }) => greetings[0] === false)));
  const asked = read.mock.calls.map((call) => call.arguments[1]);
  assert.deepEqual(asked, [[]]);
});

test('of what is kept, so much is decoded in one turn of the event loop that others are served in between', async () => {
  const count = 10_000;
  const kept: HistoryRead = {
    position: { epoch: 'abc', sequence: count },
    size: count,
    isCut: false,
    channels: [{ channel: 'a', from: 0, isAll: true, messages: upTo(count).map(payload) }],
  };
  let inTurn = 0;
  let most = 0;
  let isOver = false;
  const turn = (): void => {
    inTurn = 0;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const recordings = new Recordings({
    readHistory: () => Promise.resolve(kept),
    afterWaiting: (callback) => callback(),
    decode: (text) => {
      most = Math.max(most, (inTurn += 1));
      return decodeMessage(text);
    },
  });
  const channel: RecordedChannel = { name: 'a', offsets: new ChannelOffsets(), recording: undefined };
  await recordings.open('bids', [channel], wishOf(0));
  isOver = true;
  assert.equal(channel.recording?.covers({ epoch: 'abc', sequence: 0 }), true);
  assert.equal(channel.recording.behind(count - 1)?.sequence, count);
  assert.ok(most <= count / 5, `expected at most ${count / 5} in one turn, got ${most}`);
});

test('of viewers who share nothing, few results are kept for those who resume later', () => {
  const results = new ReplayedResults();
  const message = decodeMessage(payload(1)) as Message;
  const viewers = upTo(1_000).map((id) => ({ id }));
  for (const viewer of viewers) {
    const reads = new ReadSet();
    reads.add('value', ['id']);
    results.add(PLAN, message, viewer, reads, new SerializedResult({ data: viewer }));
  }
  const found = viewers.filter((viewer) => {
    const known = results.find(PLAN, message, viewer);
    if (known !== undefined) assert.equal(known.result.json.toString(), JSON.stringify({ data: viewer }));
    return known !== undefined;
  });
  assert.ok(found.length > 10 && found.length < 100, `expected some, got ${found.length}`);
});

test('results that are kept for those who resume later take bounded memory, over all groups', () => {
  const results = new ReplayedResults(120_000);
  const plans = upTo(10).map(() => ({ ...PLAN }));
  const messages = upTo(100).map((n) => decodeMessage(payload(n)) as Message);
  const reads = new ReadSet();
  const result = new SerializedResult({ data: { text: 'x'.repeat(1_000) } });
  for (const message of messages) for (const plan of plans) results.add(plan, message, {}, reads, result);
  const found = messages.flatMap((message) => plans.filter((plan) => results.find(plan, message, {})));
  assert.ok(found.length > 0 && found.length < 100, `expected some, got ${found.length}`);
});

test('a recording holds no more messages than the bus keeps, however long it is in use', () => {
  const source = ownBytes(1_000_000);
  const room = new RecordingRoom(source.tryReserve(0, {}) ?? assert.fail());
  const recording = new Recording(room);
  const size = 20;
  const kept = { position: { epoch: 'abc', sequence: 0 }, size, from: 0, isAll: true, messages: [] };
  recording.complete(kept, room);
  for (const n of upTo(1_000)) recording.add(decodeMessage(payload(n)) as Message, 44);
  const messages = source.held / 300;
  assert.ok(messages >= size && messages < 2 * size, `expected about ${size} messages, got ${messages}`);
  const behind = (sequence: number): boolean => recording.covers({ epoch: 'abc', sequence });
  assert.deepEqual([1_000, 1_000 - size, 900, 0].map(behind), [true, true, false, false]);
});

/** A client that has missed twenty events of 10,000 bytes. @param bytes that one connection may have read and recorded */
async function missedMuch(t: TestContext, bytes: number) {
  const set = world(t, {
    bytes: { ...defaultBytes(), history: ownBytes(bytes) },
    execute: ({ n }: { n: number }) => ({ data: { n } }),
  });
  const client = await set.lostOne();
  const long = async (n: number): Promise<void> => {
    const text = 'x'.repeat(10_000);
    await set.bus.publish('bids', [{ channel: 'bids:id=a', payload: payloadOf(n, { text }) }]);
  };
  for (const n of upTo(20)) await long(n);
  client.connect();
  await inTurns(t, () => assert.equal(client.greetings.length, 2));
  await long(21);
  await inTurns(t, () => assert.equal(client.numbers.at(-1), 21));
  return client;
}

test('a client gets what it has missed, though it is more than is read at first', async (t) => {
  const client = await missedMuch(t, 300_000);
  assert.deepEqual([client.greetings, client.heard], [[true, true], upTo(21)]);
});

test('a client that has missed more than its share is told, and gets what comes', async (t) => {
  const { greetings, heard } = await missedMuch(t, 150_000);
  assert.deepEqual({ greetings, heard }, { greetings: [true, false], heard: [undefined, 21] });
});

/** A hub whose executions for one viewer wait until they are let go, and clients by the names of their viewers. */
function slowWorld(t: TestContext, size: number) {
  const held: (() => void)[] = [];
  const parts = world(t, {
    size,
    maxWaiting: 1_000,
    execute: async (event: object, _, { viewer }): Promise<ExecutionResult> => {
      if (viewer['id'] === 'slow') await new Promise<void>((resolve) => held.push(resolve));
      return { data: { ...event } };
    },
  });
  const letGo = (): void => {
    for (const resolve of held.splice(0)) resolve();
  };
  return { ...parts, held, letGo };
}

test('a client whose replay takes longer than events are kept is told, and others get every event', async (t) => {
  const size = 10;
  const { client: make, publish, held, letGo } = slowWorld(t, size);
  const [slow, other] = [make({ id: 'slow' }), make({ id: 'other' })];
  for (const client of [slow, other]) client.connect();
  await settled();
  slow.disconnect();
  await publish(upTo(size));
  slow.connect();
  await inTurns(t, () => assert.ok(held.length > 0));
  await publish(upTo(10 * size, size + 1));
  await inTurns(t, () => {
    letGo();
    assert.ok(slow.heard.includes(undefined));
  });
  const last = 10 * size + 1;
  await publish([last]);
  await inTurns(t, () => {
    letGo();
    assert.equal(slow.numbers.at(-1), last);
  });
  const gap = slow.heard.indexOf(undefined);
  assert.deepEqual(slow.heard.slice(0, gap), upTo(gap));
  assert.equal(slow.numbers.length, new Set(slow.numbers).size);
  await inTurns(t, () => assert.deepEqual(other.heard, upTo(last)));
  for (const client of [slow, other]) client.disconnect();
});

test('a viewer whose executions never end holds up no other that resumes', async (t) => {
  const { lost, publish } = slowWorld(t, 50);
  const clients = (await lost({ id: 'slow' }, { id: 'quick' }, { id: 'late' })) as [Client, Client, Client];
  const [slow, quick, late] = clients;
  await publish(upTo(20));
  for (const client of [slow, quick]) client.connect();
  await inTurns(t, () => assert.deepEqual(quick.heard, upTo(20)));
  late.connect();
  await inTurns(t, () => assert.deepEqual(late.heard, upTo(20)));
  await publish([21]);
  await inTurns(t, () => assert.equal(quick.numbers.length, 21));
  assert.deepEqual(slow.heard, []);
  for (const client of clients) client.disconnect();
});
