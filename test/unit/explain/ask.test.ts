import assert from 'node:assert/strict';
import test from 'node:test';
import {
  askAll,
  askPods,
  type AskedPod,
  type AskedProcess,
  type Question,
} from '../../../src/explain/ask.ts';
import type { Explanation, Known, LastEvents } from '../../../src/explain/explanation.ts';

const SINCE = '2026-07-01T12:00:00.000Z';

const KNOWN: Known = {
  recording: { since: SINCE, until: SINCE, events: 0 },
  kept: { consumed: { since: SINCE, events: 0 }, arrived: { since: SINCE, events: 0 } },
};

/** A process that knows of these events of partition 0, and notes what it is asked. */
function processOf(name: string, events: Readonly<Record<number, string>>) {
  const questions: Question[] = [];
  const answer = (question: Question): LastEvents | Explanation => {
    const { offset, topic, connection = null } = question;
    if (offset === undefined) {
      const known = Object.entries(events).map(([key, at]) => ({ partition: 0, offset: Number(key), at }));
      return { ...KNOWN, events: known };
    }
    const at = events[Number(offset)];
    const event = { topic, partition: 0, offset: Number(offset) };
    const passedOver = { outcome: 'passed over', channels: [], isPublished: null, steps: [] } as const;
    const consumed = at === undefined ? null : { at, ...passedOver };
    return { ...KNOWN, connection, opened: null, event, consumed, subscriptions: [] };
  };
  const process: AskedProcess = {
    name,
    ask: (question) => {
      questions.push(question);
      return Promise.resolve(answer(question));
    },
  };
  return { process, questions };
}

const failing: AskedProcess = { name: 'c', ask: () => Promise.reject(new Error('it is away')) };

const namesOf = (recordings: readonly { process: string }[]): string[] =>
  recordings.map(({ process }) => process);

const at = (seconds: number): string => `2026-07-01T12:00:0${seconds}.000Z`;

test('the last events of all processes are explained by all of them, the last one last', async () => {
  const holder = processOf('a', { 3: at(3), 4: at(5), 5: at(5) });
  const other = processOf('b', { 1: at(1), 2: at(2), 4: at(4), 6: at(6) });
  const question = { connection: '4', topic: 'bids', key: 'S1' };
  const others = [other.process, failing];
  const { explanations, recordings, faults } = await askAll(question, holder.process, others);
  const told = explanations.map((one) => [one.event.offset, one.connection, one.consumedBy].join(' '));
  assert.deepEqual(told, ['2 4 b', '3 4 a', '4 4 a', '5 4 a', '6 4 b']);
  assert.deepEqual(namesOf(recordings), ['a', 'b']);
  assert.deepEqual(faults, ['c could not be asked: it is away']);
  const place = { partition: '0', offset: '2' };
  assert.deepEqual(holder.questions.slice(0, 2), [question, { ...question, ...place }]);
  // An id is one of the first process.
  assert.deepEqual(other.questions.slice(0, 2), [
    { topic: 'bids', key: 'S1' },
    { topic: 'bids', key: 'S1', ...place },
  ]);
});

test('one event is asked for once, and recordings are told though no event is found', async () => {
  const one = processOf('a', {});
  const asked = { topic: 'bids', partition: '0', offset: '7' };
  const { explanations } = await askAll(asked, one.process, []);
  assert.deepEqual([explanations.length, one.questions], [1, [asked]]);
  const none = await askAll({ topic: 'bids' }, one.process, []);
  assert.deepEqual([none.explanations.length, none.recordings.length], [0, 1]);
});

test('nothing is answered where the process with the connection can not be asked', async () => {
  const other = processOf('b', {});
  await assert.rejects(askAll({ topic: 'bids' }, failing, [other.process]), /it is away/);
});

test('all processes of all pods are asked, and a pod that can not be is told of', async () => {
  const urls: string[] = [];
  const get = async (url: string): Promise<unknown> => {
    urls.push(url);
    if (url.startsWith('http://c')) throw new Error('it is away');
    if (url.endsWith('/debug/workers')) return { workers: [{ worker: 1 }, { worker: 2 }] };
    return { ...KNOWN, events: [] };
  };
  const pods = [...'abc'].map((name) => ({ name, url: `http://${name}` }));
  const question = { connection: '4', topic: 'bids' };
  const { recordings, faults } = await askPods(question, pods as [AskedPod, ...AskedPod[]], '2', get);
  const expected = ['a, worker 2', 'a, worker 1', 'b, worker 1', 'b, worker 2'];
  assert.deepEqual(namesOf(recordings), expected);
  assert.deepEqual(faults, ['c could not be asked: it is away']);
  assert.deepEqual(urls.slice(3), [
    'http://a/debug/explain?connection=4&topic=bids&worker=2',
    'http://a/debug/explain?topic=bids&worker=1',
    'http://b/debug/explain?topic=bids&worker=1',
    'http://b/debug/explain?topic=bids&worker=2',
  ]);
});
