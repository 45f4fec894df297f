import assert from 'node:assert/strict';
import test from 'node:test';
import type { ExecutionResult } from 'graphql';
import type { HistoryRead } from '../../../../src/bus/history.ts';
import { decodeMessage, type Message } from '../../../../src/events/message.ts';
import { Recordings, type RecordedChannel } from '../../../../src/hub/resume/recordings.ts';
import { ReplayedResults } from '../../../../src/hub/resume/replayed-results.ts';
import { SerializedResult } from '../../../../src/hub/result.ts';
import { ReadSet } from '../../../../src/lazy/reads.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { operation, settled, setUpOn } from '../parts.ts';
import { busWith, Client, publish } from './world.ts';
import { upTo } from '../../../helpers/numbers.ts';

const payload = (n: number): string =>
  JSON.stringify({ h: ['abc', n], v: 1, t: 'bids', p: 0, o: n, ts: n, in: 0, key: null, event: { n } });

test('subscribers that resume skip no event, however few may wait', async () => {
  const bus = busWith(50);
  const { hub } = setUpOn(bus, {
    maxWaiting: 2,
    execute: async (event: { n: number }): Promise<ExecutionResult> => {
      await settled();
      return { data: event };
    },
  });
  const client = new Client(hub);
  client.connect('a');
  await settled();
  client.disconnect();
  for (const n of upTo(20)) await publish(bus, n, 'a');
  client.connect('a');
  await eventually(() => assert.equal(client.numbers.at(-1), 20));
  assert.deepEqual(client.errors, []);
  assert.deepEqual(client.heard, upTo(20));
});

test('however many cursors of no use come, the bus is asked where the topic stands, once for all of them', async () => {
  const bus = busWith(50);
  const { hub } = setUpOn(bus);
  const client = new Client(hub);
  client.connect('a');
  await settled();
  await publish(bus, 1, 'a');
  const [, epoch] = client.cursor?.split('.') ?? [];
  const asked: (readonly string[])[] = [];
  const read = bus.readHistory.bind(bus);
  bus.readHistory = (topic, channels) => {
    asked.push(channels);
    return read(topic, channels);
  };
  const bogus = upTo(500).map((n) => {
    const hostile = new Client(hub);
    hostile.cursor = n % 2 === 0 ? '1.abc.0' : `1.${epoch}.zzzzzzzzzz`;
    hostile.connect('a');
    return hostile;
  });
  await eventually(() => assert.ok(bogus.every(({ greetings }) => greetings[0] === false)));
  assert.deepEqual(asked, [[]]);
});

test('of what is kept, so much is decoded in one turn of the event loop that others are served in between', async () => {
  const count = 10_000;
  const kept: HistoryRead = {
    position: { epoch: 'abc', sequence: count },
    channels: [{ channel: 'a', from: 0, messages: upTo(count).map(payload) }],
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
  const channel: RecordedChannel = { name: 'a', recording: undefined };
  await recordings.open('bids', [channel], { epoch: 'abc', sequence: 0 });
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
    results.add(message, viewer, reads, new SerializedResult({ data: viewer }));
  }
  const found = viewers.filter((viewer) => {
    const known = results.find(message, viewer);
    if (known !== undefined) assert.equal(known.result.json.toString(), JSON.stringify({ data: viewer }));
    return known !== undefined;
  });
  assert.ok(found.length > 10 && found.length < 100, `expected some, got ${found.length}`);
});

test('a viewer whose executions never end holds up no other that resumes', async () => {
  const bus = busWith(50);
  const { hub } = setUpOn(bus, {
    maxWaiting: 100,
    execute: async (event: { n: number }, _, context): Promise<ExecutionResult> => {
      const { id } = context['viewer'] as unknown as { id: string };
      if (id === 'slow') await new Promise(() => undefined);
      return { data: event };
    },
  });
  const asked = operation();
  const [slow, quick, late] = ['slow', 'quick', 'late'].map((id) => new Client(hub, { id })) as [
    Client,
    Client,
    Client,
  ];
  for (const client of [slow, quick, late]) client.connect('a', asked);
  await settled();
  for (const client of [slow, quick, late]) client.disconnect();
  for (const n of upTo(20)) await publish(bus, n, 'a');
  for (const client of [slow, quick]) client.connect('a', asked);
  await eventually(() => assert.deepEqual(quick.heard, upTo(20)));
  late.connect('a', asked);
  await eventually(() => assert.deepEqual(late.heard, upTo(20)));
  await publish(bus, 21, 'a');
  await eventually(() => assert.equal(quick.numbers.length, 21));
  assert.deepEqual(slow.heard, []);
  for (const client of [slow, quick, late]) client.disconnect();
});
