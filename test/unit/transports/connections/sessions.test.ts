import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { TokenRefusal } from '../../../../src/auth/refusal.ts';
import type { Identity } from '../../../../src/context/token-authenticator.ts';
import type { Json } from '../../../../src/lazy/reads.ts';
import type { Disconnect } from '../../../../src/transports/connections/disconnect.ts';
import { Sessions, type SessionOwner } from '../../../../src/transports/connections/sessions.ts';
import { range } from '../../../helpers/numbers.ts';
import { turnsUntil } from '../../../helpers/turns-until.ts';
import { readableLog } from '../../ingest/parts.ts';

const AWAY = new TokenRefusal('The keys that tokens are verified with are out of reach', true);

const REQUEST = { headers: {}, url: '/graphql', remoteAddress: undefined };

/** Returns an identity of Ann that is valid until then. */
function identity(expiresAt: number): Identity {
  const token = { claims: { sub: 'ann' }, issuer: undefined, subject: 'ann', issuedAt: 1, expiresAt };
  return { viewer: { id: 'ann' }, token };
}

class Owner implements SessionOwner {
  open = true;
  viewer: Json = null;
  ending: Disconnect | undefined;
  become(viewer: Json): void {
    this.viewer = viewer;
  }
  isWarned = false;
  tokenExpires(): void {
    this.isWarned = true;
  }
  end(disconnect: Disconnect): void {
    this.open = false;
    this.ending ??= disconnect;
  }
}

/** A connection with a token that expires at 100 s, and answers to the fresh tokens that it sends. */
async function setUp(answers: (Identity | TokenRefusal)[]) {
  const { log, lines } = readableLog();
  const time = { now: 0 };
  const sessions = new Sessions<Owner>({
    authenticator: {
      asksGraph: false,
      identify: async () => identity(100),
      refresh: async () => answers.shift() ?? AWAY,
      refusalOf: () => undefined,
    },
    warnMs: 60_000,
    graceMs: 10_000,
    toleranceMs: 0,
    now: () => time.now,
    log,
  });
  const owner = new Owner();
  await sessions.admit(owner, {}, REQUEST);
  const refresh = async (): Promise<void> => {
    sessions.receive(owner, { auth: { token: 'fresh' } });
    await nextTurn();
  };
  const checkAt = (seconds: number): string | undefined => {
    time.now = seconds * 1_000;
    sessions.check();
    return owner.ending && `${owner.ending.code} ${owner.ending.label}`;
  };
  return { sessions, refresh, checkAt, lines };
}

test('a client whose fresh token can not be verified, as the keys are away, is closed so that it comes again', async () => {
  const { refresh, checkAt } = await setUp([AWAY]);
  assert.equal(checkAt(50), undefined);
  await refresh();
  assert.equal(checkAt(109), undefined);
  assert.equal(checkAt(110), '1013 keys_unavailable');
});

test('a client that sends no fresh token in time is closed as one whose token has expired', async () => {
  const { refresh, checkAt } = await setUp([AWAY, identity(200)]);
  assert.equal(checkAt(50), undefined);
  await refresh();
  await refresh();
  assert.equal(checkAt(150), undefined);
  assert.equal(checkAt(210), '4403 token_expired');
});

test('fresh tokens that can not be verified are logged once a minute, however many come', async () => {
  const { refresh, checkAt, lines } = await setUp([]);
  for (let sent = 0; sent < 50; sent += 1) await refresh();
  const logged = lines.map(({ msg, suppressed }) => [msg, suppressed]);
  assert.deepEqual(logged, [['a fresh token can not be verified', 0]]);
  checkAt(60);
  await refresh();
  assert.equal(lines[1]?.['suppressed'], 49);
});

test('of many clients whose tokens expire together, a few are warned and closed in each turn of the event loop', async () => {
  const { sessions, checkAt } = await setUp([]);
  const owners = range(0, 100).map(() => new Owner());
  for (const owner of owners) sessions.begin(owner, identity(100), REQUEST);
  const warned = (): number => owners.filter(({ isWarned }) => isWarned).length;
  const closed = (): number => owners.filter(({ open }) => !open).length;
  checkAt(50);
  assert.ok(warned() < 20, `${warned()} in one turn`);
  await turnsUntil(() => warned() === owners.length);
  checkAt(110);
  assert.ok(closed() < 20, `${closed()} in one turn`);
  await turnsUntil(() => closed() === owners.length);
});
