import assert from 'node:assert/strict';
import test from 'node:test';
import { GapDetector } from '../../../../src/bus/redis/gap-detector.ts';

test('a reported gap stands for what was missed before it, until the topic is left', () => {
  let now = 1_000;
  const detector = new GapDetector(() => now);
  detector.joined('bids');
  assert.ok(!detector.wasReportedWithin('bids', 2_000));
  detector.report('bids');
  detector.report('asks');
  now += 100;
  assert.ok(!detector.wasReportedWithin('bids', 99));
  assert.ok(detector.wasReportedWithin('bids', 100));
  assert.ok(!detector.wasReportedWithin('asks', 100), 'it is not listened to');
  detector.left('bids');
  assert.ok(!detector.wasReportedWithin('bids', 100));
});

test('a reported gap stands for nothing that a subscriber lacks who has begun with the history since', () => {
  const detector = new GapDetector(() => 0);
  detector.joined('bids');
  detector.report('bids');
  detector.beginsWithHistory('bids');
  assert.ok(!detector.wasReportedWithin('bids', 100));
});

test('a topic that is being read, and of which a channel is joined only then, has not been heard up to the versions that are read', () => {
  const detector = new GapDetector(() => 0);
  const gaps: string[] = [];
  detector.onGap((topic) => gaps.push(topic));
  // Its channel was asked for over the connection that is lost.
  detector.suspectAll();
  detector.trust('bids');
  detector.joined('bids');
  const versions = new Map([['bids', 'a']]);
  detector.compare(versions);
  detector.heard(versions);
  assert.deepEqual(gaps, []);
  detector.suspectAll();
  detector.trust('bids');
  detector.distrust('bids');
  detector.compare(versions);
  assert.deepEqual(gaps, ['bids']);
});

test('what a publisher tells of while a pod finds out what it has missed is told with that, once', () => {
  const detector = new GapDetector(() => 0);
  const gaps: string[] = [];
  detector.onGap((topic) => gaps.push(topic));
  const topics = ['unread', 'read', 'compared'];
  for (const topic of topics) detector.joined(topic);
  detector.suspectAll();
  for (const topic of ['unread', 'read']) detector.trust(topic);
  detector.trust('not listened to');
  for (const topic of [...topics, 'not listened to']) detector.announced(topic);
  detector.wasRead('not listened to');
  detector.joined('not listened to');
  assert.deepEqual(gaps, []);
  for (const topic of ['unread', 'read']) assert.ok(detector.wasRead(topic), 'versions are compared soon');
  assert.deepEqual(gaps, []);
  // It was of another epoch.
  detector.missed('unread');
  detector.compare(new Map([...topics.map((topic) => [topic, null] as const), ['not listened to', 'a']]));
  assert.deepEqual(gaps, ['unread', 'compared', 'read']);
  for (const topic of topics) detector.announced(topic);
  assert.deepEqual(gaps.slice(3), topics, 'it may have been lost since');
});

test('what a publisher tells of while messages are held, before or after the history is read, is told once, at their end', () => {
  const detector = new GapDetector(() => 0);
  const gaps: string[] = [];
  detector.onGap((topic) => gaps.push(topic));
  const topics = ['begun anew', 'complete'];
  const compare = (): void => detector.compare(new Map(topics.map((topic) => [topic, 'a'])));
  for (const isReadBefore of [false, true]) {
    gaps.length = 0;
    for (const topic of topics) detector.joined(topic);
    detector.suspectAll();
    for (const topic of topics) detector.trust(topic);
    for (const topic of topics) {
      if (isReadBefore) assert.equal(detector.wasRead(topic, true), false);
      detector.announced(topic, true);
      if (!isReadBefore) assert.equal(detector.wasRead(topic, true), false);
    }
    compare();
    assert.deepEqual(gaps, []);
    detector.missed('begun anew');
    detector.settle('complete');
    compare();
    assert.deepEqual(gaps, topics);
  }
});
