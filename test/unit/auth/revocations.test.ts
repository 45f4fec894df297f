import assert from 'node:assert/strict';
import test from 'node:test';
import { isOfViewer, isRevocation, MAX_REVOCATIONS, Revocations } from '../../../src/auth/revocations.ts';

const revocation = (value: string) => ({ path: 'id', value, at: 1 });

function setUp() {
  let now = 1_000_000;
  const revocations = new Revocations({ keepMs: 60_000, toleranceMs: 2_000, now: () => now });
  return { revocations, pass: (ms: number) => (now += ms), now: () => now };
}

test('a revocation covers tokens that were issued before it, by as much as clocks may differ, or that do not tell', () => {
  const { revocations, now } = setUp();
  assert.ok(revocations.add({ path: 'org.id', value: '7', at: now() }));
  const viewer = { org: { id: 7 } };
  assert.ok(revocations.covers(viewer, 900));
  assert.ok(revocations.covers(viewer, 1_002));
  assert.ok(!revocations.covers(viewer, 1_003));
  assert.ok(revocations.covers(viewer, undefined));
  assert.ok(!revocations.covers({ org: { id: 8 } }, undefined));
  assert.ok(!revocations.covers({ org: 7 }, undefined));
  assert.ok(!revocations.covers({}, undefined));
});

test('values are compared as text, and only text, numbers and booleans', () => {
  assert.ok(isOfViewer(revocation('42'), { id: 42 }));
  assert.ok(isOfViewer(revocation('42'), { id: '42' }));
  assert.ok(isOfViewer(revocation('true'), { id: true }));
  assert.ok(!isOfViewer(revocation('null'), { id: null }));
  assert.ok(!isOfViewer(revocation('42'), { id: ['42'] }));
  assert.ok(!isOfViewer({ path: 'constructor', value: 'x', at: 1 }, {}));
});

test('a revocation is taken once, a later one of the same viewer again, and all are forgotten in time', () => {
  const { revocations, pass, now } = setUp();
  const first = { path: 'id', value: '1', at: now() };
  assert.ok(revocations.add(first));
  assert.ok(!revocations.add(first));
  pass(30_000);
  assert.ok(revocations.add({ ...first, at: now() }));
  assert.ok(!revocations.add(first));
  pass(59_999);
  assert.ok(revocations.covers({ id: 1 }, 1));
  pass(1);
  assert.ok(!revocations.covers({ id: 1 }, 1));
  assert.ok(!revocations.add({ ...first, at: now() - 60_000 }));
});

test('no more are taken than fit, until some are forgotten', () => {
  const { revocations, pass, now } = setUp();
  const other = revocation('other');
  const add = (id: number): boolean => revocations.add({ path: 'id', value: String(id), at: now() });
  add(0);
  pass(1);
  // The later one of a viewer takes the place of the one before.
  for (let id = 0; id < MAX_REVOCATIONS - 1; id += 1) add(id);
  assert.ok(!revocations.isFullFor(other));
  add(MAX_REVOCATIONS - 1);
  assert.ok(revocations.isFullFor(other) && !revocations.isFullFor(revocation('0')));
  pass(60_000);
  assert.ok(!revocations.isFullFor(other));
});

test('old ones are forgotten though one of a later time came before them', () => {
  const { revocations, pass, now } = setUp();
  const other = revocation('other');
  revocations.add({ path: 'id', value: 'young', at: now() });
  for (let id = 1; id < MAX_REVOCATIONS; id += 1)
    revocations.add({ path: 'id', value: String(id), at: now() - 30_000 });
  assert.ok(revocations.isFullFor(other));
  pass(30_000);
  assert.ok(!revocations.isFullFor(other));
  assert.ok(revocations.covers({ id: 'young' }, undefined));
});

test('of a time to come, a revocation is taken only if clocks may differ by as much', () => {
  const { revocations, now } = setUp();
  const ahead = { path: 'id', value: '1', at: now() + 300_001 };
  assert.ok(revocations.isAhead(ahead));
  assert.ok(!revocations.add(ahead));
  assert.ok(!revocations.covers({ id: 1 }, undefined));
  assert.ok(revocations.add({ ...ahead, at: now() + 300_000 }));
  assert.ok(revocations.covers({ id: 1 }, undefined));
});

test('what a bus brings is a revocation only if all its parts are there', () => {
  assert.ok(isRevocation({ path: 'id', value: '1', at: 1 }));
  const partial = [{}, { path: 'id', value: 1, at: 1 }, { path: 'id', value: '1', at: 'x' }];
  for (const other of [null, 1, 'id', [], ...partial]) assert.ok(!isRevocation(other));
});
