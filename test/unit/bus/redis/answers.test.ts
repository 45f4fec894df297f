import assert from 'node:assert/strict';
import test from 'node:test';
import { Answers } from '../../../../src/bus/redis/answers.ts';
import type { HeardTopic } from '../../../../src/bus/redis/heard-positions.ts';
import type { ConsumedPartition, ConsumedTopic } from '../../../../src/events/consumption.ts';

const at = (partition: number, next: number, others: Partial<ConsumedPartition> = {}): ConsumedPartition => {
  const position = { next, until: next, leaderEpoch: 3, lastEpoch: 4, lastFrom: undefined };
  return { partition, assignedAt: 7, start: 0, log: 'id/0', ...position, ...others };
};

const bids = (count: number, ...partitions: ConsumedPartition[]): ConsumedTopic => {
  return { topic: 'bids', count, partitions };
};

const heard = (...partitions: ConsumedPartition[]): HeardTopic => {
  return { count: partitions.length, partitions: new Map(partitions.map((one) => [one.partition, one])) };
};

/** A question about `bids`, of two partitions, to two pods. */
function ask(...answered: (readonly [pod: string, topic: ConsumedTopic])[]): Answers {
  const answers = new Answers([['bids', 2]]);
  answers.expect(2);
  for (const [pod, topic] of answered) answers.add(pod, [topic]);
  return answers;
}

test('all is answered once each pod has, and each partition is known', () => {
  const answers = ask(['a', bids(2, at(0, 5))]);
  assert.equal(answers.complete.aborted, false);
  answers.add('a', [bids(2, at(1, 5))]);
  assert.equal(answers.complete.aborted, false, 'another pod may have gone on with a partition');
  answers.add('b', []);
  assert.equal(answers.complete.aborted, true);
});

test('pods that answer before it is known how many there are count', () => {
  const answers = new Answers([['bids', 1]]);
  answers.add('a', [bids(1, at(0, 5))]);
  assert.equal(answers.complete.aborted, false);
  answers.expect(1);
  assert.equal(answers.complete.aborted, true);
});

test('a topic that has more partitions than before is waited for', () => {
  const answers = ask(['a', bids(3, at(0, 5), at(1, 5))], ['b', bids(2)]);
  assert.equal(answers.complete.aborted, false);
  answers.add('b', [bids(3, at(2, 0))]);
  assert.equal(answers.complete.aborted, true);
});

test('what is missing begins where was heard up to, and ends where any pod may have published to', () => {
  const answers = ask(['a', bids(2, at(0, 5, { until: 7 }), at(1, 4))], ['b', bids(2, at(0, 6), at(1, 4))]);
  const ranges = answers.missing('bids', heard(at(0, 2, { until: 5 }), at(1, 4)));
  assert.deepEqual(ranges, [
    { partition: 0, log: 'id/0', leaderEpoch: 3, from: 2, until: 7, lastEpoch: 4, lastFrom: undefined },
  ]);
});

for (const [what, answered, since, reason] of [
  ['no pod knows a partition', bids(2, at(0, 5)), heard(at(0, 2), at(1, 2)), /partition 1/],
  ['a partition was not there before', bids(2, at(0, 2), at(1, 4)), heard(at(0, 2)), /another/],
  ['a partition has another log', bids(2, at(0, 5, { log: 'id/1' }), at(1, 2)), heard(at(0, 2)), /another/],
  [
    'a partition was given to another pod, or anew',
    bids(2, at(0, 2, { assignedAt: 8 })),
    heard(at(0, 2)),
    /moved/,
  ],
] as const) {
  test(`it is not known what is missing where ${what}`, () => {
    assert.throws(() => ask(['a', answered], ['b', bids(2)]).missing('bids', since), reason);
  });
}

test('it is not known what is missing unless each pod has answered, though all partitions are known', () => {
  const answers = ask(['a', bids(2, at(0, 5), at(1, 4))]);
  assert.throws(() => answers.missing('bids', heard(at(0, 2), at(1, 2))), /^Error: of 2 pods 1 say how far/);
});

for (const [what, others] of [
  ['of another log', { log: 'id/1', until: 1 }],
  ['given anew', { assignedAt: 8 }],
] as const) {
  test(`it is not known what is missing where two answer for one partition, and one is ${what}`, () => {
    for (const pods of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const [mine, other] = [at(0, 5), at(0, 5, others)];
      const answers = ask(...[mine, other].map((one, index) => [pods[index] ?? '', bids(1, one)] as const));
      assert.throws(() => answers.missing('bids', heard(at(0, 2))), /moved/);
    }
  });
}
