import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChannelAccount } from '../../../loadtest/chaos/channel-account.ts';

/** What comes in, of how many that were sent, and the holes and counts that are seen. */
for (const [what, events, sent, holes, counts] of [
  ['All events once and in order leave no hole', [1, 2, 3], 3, [], [3, 0, 0]],
  [
    'Events that have not come are a hole, at the beginning, in the middle and at the end',
    [3, 6],
    8,
    ['c0 1–2 untold', 'c0 4–5 untold', 'c0 7–8 untold'],
    [2, 0, 0],
  ],
  ['A client that got nothing has a hole of all that was sent', [], 2, ['c0 1–2 untold'], [0, 0, 0]],
  ['An event that comes again is a double, wherever it comes', [1, 1, 2, 3, 1], 3, [], [3, 2, 0]],
  ['An event behind a later one is out of order, and once more a double', [1, 3, 2, 2, 4], 4, [], [4, 1, 1]],
  [
    'A hole is told by what came between the event before it and the one behind it',
    [1, 'told', 4, 6],
    6,
    ['c0 2–3 told', 'c0 5–5 untold'],
    [3, 0, 0],
  ],
  [
    'What was told before an event tells of no hole behind it',
    ['told', 1, 3],
    3,
    ['c0 2–2 untold'],
    [2, 0, 0],
  ],
  ['What is told behind the next event is late', [1, 3, 'told', 4], 4, ['c0 2–2 late'], [3, 0, 0]],
  ['A hole stays told when something else is told', [1, 'told', 3, 'told'], 3, ['c0 2–2 told'], [2, 0, 0]],
  ['What comes after a hole that was told fills it', [1, 'told', 4, 3], 4, ['c0 2–2 told'], [3, 0, 1]],
  [
    'A hole at the end is told by what is told behind the last event',
    [1, 'told'],
    2,
    ['c0 2–2 told'],
    [1, 0, 0],
  ],
] as const) {
  test(what, () => {
    const account = new ChannelAccount('c0');
    for (const event of events) {
      if (event === 'told') account.told();
      else account.event(event);
    }
    const found = account.close(sent);
    assert.deepEqual(
      found.map(({ channel, from, to, knowledge }) => `${channel} ${from}–${to} ${knowledge}`),
      holes,
    );
    assert.deepEqual([account.received, account.doubled, account.reordered], counts);
  });
}
