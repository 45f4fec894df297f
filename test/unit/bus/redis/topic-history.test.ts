import assert from 'node:assert/strict';
import test from 'node:test';
import type { Reply } from '../../../../src/bus/redis/connection.ts';
import { turnsUntil } from '../../../helpers/turns-until.ts';
import { keptHistory } from './topic-history-parts.ts';

/** A history of one channel, whose time is over only when the test says so. @param answers to each script */
function keepChannel(...answers: (() => Reply)[]) {
  const { history, ...rest } = keptHistory(() => answers.shift()?.() ?? { value: ['e', 0, 0] });
  return { history, joined: history.joined('a'), ...rest };
}

const lost = (): Reply => {
  throw new Error('the connection to Redis is lost');
};

test('a channel that could not be kept while Redis was away is kept soon after', async () => {
  const busy: Reply = { error: new Error('BUSY Redis is busy running a script.') };
  const { joined, sent, sleeps } = keepChannel(lost, () => busy);
  await joined;
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    assert.equal(sent.length, attempt);
    await turnsUntil(() => sleeps.length > 0);
    assert.ok((sleeps[0]?.ms ?? Infinity) <= 1_000, `${sleeps[0]?.ms} ms`);
    sleeps.shift()?.end();
    await turnsUntil(() => sent.length !== attempt);
  }
  assert.equal(sent[2]?.at(-1), 'a');
  assert.equal(sleeps.length, 0);
});

/** The channel is kept, and then read. */
function readWith(refusal: string): Promise<unknown> {
  const { history } = keepChannel(
    () => ({ value: ['e', 0, 0] }),
    () => ({ error: new Error(refusal) }),
  );
  return history.read(0, ['a'], { maxBytes: 1_000 });
}

test('what Redis can not do just now is no lack of history: those who read may try again', async () => {
  for (const reason of ['READONLY You can’t write', 'BUSY a script', 'LOADING the dataset']) {
    await assert.rejects(readWith(reason), (error: Error) => error.name !== 'NoHistory');
  }
  for (const reason of ['NOPERM no permission', 'OOM command not allowed']) {
    await assert.rejects(readWith(reason), { name: 'NoHistory' });
  }
});

test('where what was acknowledged may not be read any more, it counts as lost', async () => {
  const refused: Reply = { error: new Error('NOPERM no permission to run hmget') };
  const { history } = keepChannel(
    () => ({ value: ['e', 0, 0] }),
    () => refused,
  );
  const source = { topicId: undefined, partition: 0, offset: 7 };
  history.published([{ channel: 'a', payload: '{}', source }], [0, 'e']);
  assert.equal(await history.isLost(), true);
});

for (const [held, isLost] of [
  ['d', true],
  ['e', false],
] as const)
  test(`where Redis has told of epoch e, and refused to publish, one that holds ${held} ${isLost ? 'has lost messages' : 'is the same'}`, async () => {
    const { history } = keepChannel(
      () => ({ value: ['e', 0, 0] }),
      () => ({ value: [held] }),
    );
    assert.equal(history.published([{ channel: 'a', payload: '{}' }], [-1, 'e']), false);
    assert.equal(await history.isLost(), isLost);
  });

test('a state that holds a lower offset in a higher leader epoch, as a log that has lost its end gives it, lacks nothing', async () => {
  const acknowledged = { topicId: undefined, partition: 0, offset: 7, epoch: 5 };
  const isLost = (field: string) => {
    const { history } = keepChannel(
      () => ({ value: ['e', 0, 0] }),
      () => ({ value: ['e', '1', null, field] }),
    );
    history.published([{ channel: 'a', payload: '{}', source: acknowledged }], [0, 'e', 1]);
    return history.isLost();
  };
  const answers = await Promise.all(['3.6', '7.5', '9.5', '7', '6.5', '6', '9.4'].map(isLost));
  assert.deepEqual(answers, [false, false, false, false, true, true, true]);
});

const SECOND = String(2 ** 32 + 9);

for (const [state, last, ended, isLost] of [
  ['is as far', '7', null, false],
  ['has gone on', '9', null, false],
  ['is behind', '6', null, true],
  ['has gone on as another master, from there', SECOND, '7', false],
  ['has gone on as another master, from before', SECOND, '6', true],
  ['has gone on as another master, with nothing', SECOND, null, true],
] as const)
  test(`a server that ${state} ${isLost ? 'lacks' : 'has'} what was acknowledged, though it has later events of the partition`, async () => {
    const { history, sent } = keepChannel(
      () => ({ value: ['e', 0, 0] }),
      () => ({ value: ['e', last, ended, '8'] }),
    );
    const source = { topicId: undefined, partition: 0, offset: 7 };
    history.published([{ channel: 'a', payload: '{}', source }], [0, 'e', 7]);
    assert.equal(await history.isLost(), isLost);
    assert.deepEqual(sent.at(-1)?.slice(2), ['epoch', 'seq', 'branch:0', 'offset::0']);
  });

test('what was acknowledged last counts, though a former master had been in a later branch', async () => {
  const { history } = keepChannel(
    () => ({ value: ['e', 0, 0] }),
    () => ({ value: ['e', '9', null, '8'] }),
  );
  const source = { topicId: undefined, partition: 0, offset: 7 };
  for (const sequence of [2 ** 32 + 5, 9])
    history.published([{ channel: 'a', payload: '{}', source }], [0, 'e', sequence]);
  assert.equal(await history.isLost(), false);
});

/** Whether all is lost where Redis holds this number, after two questions. */
function isLostWith(held: string | null, passesOver = true): Promise<boolean> {
  const { history } = keepChannel(
    () => ({ value: ['e', 0, 0] }),
    () => ({ value: held }),
  );
  for (const question of [history.passedOver.nextQuestion(), history.passedOver.nextQuestion()]) {
    assert.equal(history.asksFor(['a'], 'v', question).at(-2), String(question));
    if (passesOver) history.passedOver.note(question);
  }
  return history.isLost();
}

test('a server that does not know the last question by which a pod has passed over events lacks what others listen to there', async () => {
  // A question whose reply was lost is known all the same.
  const answers = [
    isLostWith(null),
    isLostWith('1'),
    isLostWith('2'),
    isLostWith('3'),
    isLostWith(null, false),
  ];
  assert.deepEqual(await Promise.all(answers), [true, true, false, false, false]);
});

test('what is acknowledged in a higher leader epoch is the last, though its offset is lower', async () => {
  const { history } = keepChannel();
  for (const { offset, epoch } of [
    { offset: 7, epoch: 5 },
    { offset: 3, epoch: 6 },
    { offset: 6, epoch: 5 },
  ]) {
    const source = { topicId: 'id', partition: 0, offset, epoch };
    history.published([{ channel: 'a', payload: '{}', source }], [0, 'e']);
  }
  const source = { topicId: 'id', partition: 0, offset: 4, epoch: 6 };
  const command = history.publishes([{ channel: 'a', payload: '{}', source }], 'v', 'e');
  const at = command.indexOf('offset:id:0');
  assert.deepEqual(command.slice(at, at + 5), ['offset:id:0', '3.6', '1', 'offset:id:0', '4.6']);
});

test('a channel that Redis does not permit to keep is not tried again at once', async () => {
  const { joined, sleeps } = keepChannel(() => ({ error: new Error('NOPERM no permission to run eval') }));
  await joined;
  assert.deepEqual(sleeps, []);
});

test('channels that are subscribed to while Redis is asked to keep others are kept together, 500 at a time, each batch from where the topic stands then', async () => {
  let sequence = 0;
  const { history, sent } = keptHistory(() => ({ value: ['e', (sequence += 1), 0] }));
  const joined = Array.from({ length: 1_200 }, (_, n) => history.joined(`c${n}`));
  assert.equal(sent.length, 1);
  const at = await Promise.all(joined);
  assert.equal(sent.length, 4);
  assert.deepEqual(
    [1, 500, 501, 1_000, 1_001].map((n) => at[n]?.sequence),
    [2, 2, 3, 3, 4],
  );
  const next = await history.joined('next');
  assert.equal(next?.sequence, 5);
});
