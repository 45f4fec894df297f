import assert from 'node:assert/strict';
import test from 'node:test';
import { GapDetector } from '../../../../src/bus/redis/gap-detector.ts';

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
