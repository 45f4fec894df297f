import assert from 'node:assert/strict';
import test from 'node:test';
import { MAX_REVOCATIONS } from '../../../src/auth/revocations.ts';
import type { Basics } from '../../../src/gateway/basics.ts';
import { Revoking } from '../../../src/gateway/revoking.ts';
import { createLog } from '../../../src/log.ts';
import type { Json } from '../../../src/lazy/reads.ts';
import { Metrics } from '../../../src/metrics.ts';

const of = (value: string, at: number) => ({ path: 'id', value, at });

type Hear = (text: string) => void;

/** Revoking in a pod, and what its bus brings. */
function setUp(properties?: readonly string[]) {
  const listeners: Hear[] = [];
  const announced: string[] = [];
  const config = { AUTH_CLOCK_TOLERANCE_SECONDS: 0, AUTH_REVOKED_SECONDS: 60 };
  const basics = { config, metrics: new Metrics(), log: createLog('silent') } as Partial<Basics> as Basics;
  const bus = {
    announce: async (text: string) => void announced.push(text),
    onAnnouncement: (listener: Hear) => void listeners.push(listener),
    announcementsAreHeard: false,
  };
  const revoking = new Revoking(basics, bus, () => properties);
  const hear: Hear = (text) => listeners.forEach((listener) => listener(text));
  return { revoking, announced, hear, bus };
}

test('until those are heard that a bus keeps, it is told that revocations have not been read', () => {
  const { revoking, bus } = setUp();
  assert.equal(revoking.notReady(), 'the revocations that Redis keeps have not been read yet');
  bus.announcementsAreHeard = true;
  assert.equal(revoking.notReady(), undefined);
});

test('a viewer that is revoked is let out of all that is open or waits, once, behind what is let in within the turn', async () => {
  const { revoking } = setUp();
  const revoked: unknown[] = [];
  const revocable = {
    revoke: (isRevoked: (viewer: Json, at?: number) => boolean) => revoked.push(isRevoked),
  };
  revoking.of(revocable as never, revocable as never);
  const now = Date.now();
  revoking.hear([of('1', now), of('1', now - 1)]);
  assert.equal(revoked.length, 0);
  await new Promise(setImmediate);
  assert.equal(revoked.length, 2);
  const [isRevoked] = revoked as ((viewer: Json, at?: number) => boolean)[];
  assert.ok(isRevoked?.({ id: '1' }) && !isRevoked({ id: '2' }));
});

test('of what a bus brings, a revocation of minutes to come is not taken', () => {
  const { revoking, hear } = setUp();
  const revocation = { path: 'id', value: '1', at: Date.now() + 600_000 };
  hear(JSON.stringify(revocation));
  assert.ok(!revoking.revocations.covers({ id: 1 }, undefined));
  hear(JSON.stringify({ ...revocation, at: Date.now() }));
  assert.ok(revoking.revocations.covers({ id: 1 }, undefined));
});

test('where no more revocations fit, one of a viewer that is revoked already is taken, and another refused', async () => {
  const { revoking, announced } = setUp();
  const before = Date.now() - 1_000;
  for (let id = 0; id < MAX_REVOCATIONS; id += 1) revoking.revocations.add(of(String(id), before));
  await assert.rejects(revoking.revoke(of('other', before)), /expected at most 10000 revocations/);
  assert.deepEqual(announced, []);
  await revoking.revoke(of('7', before + 1));
  assert.equal(announced.length, 1);
});

test('a path that leads into no viewer is refused, where it is known which properties viewers have', async () => {
  const { revoking, announced } = setUp(['id', 'org']);
  const at = Date.now() - 1_000;
  await assert.rejects(revoking.revoke({ path: 'sub', value: '1', at }), {
    status: 400,
    message: 'expected path to begin with a property that AUTH_CLAIMS gives to viewers (id, org), got sub',
  });
  assert.deepEqual(announced, []);
  await revoking.revoke({ path: 'org.id', value: '1', at });
  await setUp().revoking.revoke({ path: 'sub', value: '1', at });
  assert.equal(announced.length, 1);
});
