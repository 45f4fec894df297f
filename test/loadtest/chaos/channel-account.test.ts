import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChannelAccount } from '../../../loadtest/chaos/channel-account.ts';

function after(...events: (number | 'told')[]): ChannelAccount {
  const account = new ChannelAccount('c0');
  for (const event of events) {
    if (event === 'told') account.told();
    else account.event(event);
  }
  return account;
}

function holesOf(account: ChannelAccount, sent: number): string[] {
  return account
    .close(sent)
    .map(({ channel, from, to, knowledge }) => `${channel} ${from}–${to} ${knowledge}`);
}

test('All events once and in order leave no hole, no double and none out of order', () => {
  const account = after(1, 2, 3);
  assert.deepEqual(holesOf(account, 3), []);
  assert.deepEqual([account.received, account.doubled, account.reordered], [3, 0, 0]);
});

test('Events that have not come are a hole, at the beginning, in the middle and at the end', () => {
  const account = after(3, 6);
  assert.deepEqual(holesOf(account, 8), ['c0 1–2 untold', 'c0 4–5 untold', 'c0 7–8 untold']);
  assert.equal(account.received, 2);
});

test('A client that got nothing has a hole of all that was sent', () => {
  const account = after();
  assert.deepEqual(holesOf(account, 2), ['c0 1–2 untold']);
  assert.equal(account.received, 0);
});

test('An event that comes again is a double, wherever it comes', () => {
  const account = after(1, 1, 2, 3, 1);
  assert.deepEqual(holesOf(account, 3), []);
  assert.deepEqual([account.received, account.doubled, account.reordered], [3, 2, 0]);
});

test('An event behind a later one is out of order, and not lost; once more, it is a double', () => {
  const account = after(1, 3, 2, 2, 4);
  assert.deepEqual(holesOf(account, 4), []);
  assert.deepEqual([account.received, account.doubled, account.reordered], [4, 1, 1]);
});

test('A hole is told by what came between the event before it and the one behind it', () => {
  assert.deepEqual(holesOf(after(1, 'told', 4, 6), 6), ['c0 2–3 told', 'c0 5–5 untold']);
});

test('What was told before an event does not tell of a hole behind it', () => {
  assert.deepEqual(holesOf(after('told', 1, 3), 3), ['c0 2–2 untold']);
});

test('What is told behind the next event is late', () => {
  assert.deepEqual(holesOf(after(1, 3, 'told', 4), 4), ['c0 2–2 late']);
});

test('A hole that is told stays so when something else is told', () => {
  assert.deepEqual(holesOf(after(1, 'told', 3, 'told'), 3), ['c0 2–2 told']);
});

test('What comes after all of a hole that was told fills it', () => {
  const account = after(1, 'told', 4, 3);
  assert.deepEqual(holesOf(account, 4), ['c0 2–2 told']);
  assert.equal(account.reordered, 1);
});

test('A hole at the end is told if something was told behind the last event', () => {
  assert.deepEqual(holesOf(after(1, 'told'), 2), ['c0 2–2 told']);
});
