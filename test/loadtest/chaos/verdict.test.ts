import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientAccount } from '../../../loadtest/chaos/client-account.ts';
import type { Field } from '../../../loadtest/chaos/subscriptions.ts';
import { complaintsAbout, describeFailures } from '../../../loadtest/chaos/verdict.ts';

const SENT = 5;

function reportOf(field: Field, happen: (account: ClientAccount) => void) {
  const account = new ClientAccount(7, { field, channels: ['c0'] });
  happen(account);
  return account.close({ c0: SENT });
}

/** @param between what the client learns in place of event 3; what it learns at the end */
function withHole(field: Field, between: 'gap' | 'false' | 'true' | undefined, end?: 'gap') {
  return reportOf(field, (account) => {
    for (const n of [1, 2]) account.event('c0', n);
    if (between === 'gap') account.gap();
    else if (between !== undefined) account.returned(between === 'true');
    for (const n of [4, 5]) account.event('c0', n);
    if (end === 'gap') account.gap();
  });
}

function events(field: Field, ...numbers: readonly number[]) {
  return reportOf(field, (account) => numbers.forEach((n) => account.event('c0', n)));
}

const HOLE = ['1 lost and not told'];

for (const [what, report, everything, orTold] of [
  ['All events, once and in order', events('update', 1, 2, 3, 4, 5), [], []],
  ['A hole', withHole('update', undefined), HOLE, HOLE],
  ['A hole with recovered: true', withHole('update', 'true'), HOLE, HOLE],
  ['A hole with recovered: false', withHole('update', 'false'), ['1 lost, if told'], []],
  ['A hole with a gap', withHole('update', 'gap'), ['1 lost, if told'], []],
  [
    'A hole that is told late',
    withHole('update', undefined, 'gap'),
    ['1 lost and told too late'],
    ['1 lost and told too late'],
  ],
  ['A double', events('update', 1, 2, 2, 3, 4, 5), ['1 doubled'], ['1 doubled']],
  ['Events out of order', events('updates', 1, 3, 2, 4, 5), ['1 re-ordered'], ['1 re-ordered']],
  ['A hole without history', withHole('unkept_update', undefined), HOLE, HOLE],
  ['A hole without history that is told', withHole('unkept_update', 'gap'), [], []],
  ['A hole without history that is told late', withHole('unkept_update', undefined, 'gap'), [], []],
] as const) {
  test(`${what} makes these complaints, where everything is promised, and where everything or being told is`, () => {
    assert.deepEqual(complaintsAbout(report, 'everything'), everything);
    assert.deepEqual(complaintsAbout(report, 'everything or told'), orTold);
  });
}

test('Faults of the protocol are complaints under each promise', () => {
  const report = reportOf('update', (account) => {
    for (let n = 1; n <= SENT; n += 1) account.event('c0', n);
    account.event('c1', 1);
  });
  assert.deepEqual(complaintsAbout(report, 'everything or told'), ['expected an event of c0, got c1 1']);
});

test('A failure names the client, what is wrong, and between which numbers', () => {
  assert.deepEqual(
    describeFailures([events('update', 1, 2, 3, 4, 5), withHole('update', 'gap')], 'everything'),
    ['client 7, update: 1 lost, if told (c0 3–3 told)'],
  );
});
