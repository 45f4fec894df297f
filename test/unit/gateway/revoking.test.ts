import assert from 'node:assert/strict';
import test from 'node:test';
import { MAX_REVOCATIONS } from '../../../src/auth/revocations.ts';
import type { Basics } from '../../../src/gateway/basics.ts';
import { Revoking } from '../../../src/gateway/revoking.ts';
import { createLog } from '../../../src/log.ts';
import { Metrics } from '../../../src/metrics.ts';

const of = (value: string, at: number) => ({ path: 'id', value, at });

type Hear = (text: string) => void;

/** Revoking in a pod, and what its bus brings. */
function setUp() {
  const listeners: Hear[] = [];
  const announced: string[] = [];
  const config = { AUTH_CLOCK_TOLERANCE_SECONDS: 0, AUTH_REVOKED_SECONDS: 60 };
  const basics = { config, metrics: new Metrics(), log: createLog('silent') } as Partial<Basics> as Basics;
  const revoking = new Revoking(basics, {
    announce: async (text) => void announced.push(text),
    onAnnouncement: (listener) => void listeners.push(listener),
  });
  const hear: Hear = (text) => listeners.forEach((listener) => listener(text));
  return { revoking, announced, hear };
}

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
