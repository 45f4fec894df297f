import assert from 'node:assert/strict';
import test from 'node:test';
import { RenewedToken } from '../../../../../src/ingest/kafka/credentials/renewed-token.ts';
import { TokenUnavailable } from '../../../../../src/ingest/kafka/credentials/token-unavailable.ts';
import { readableLog } from '../../parts.ts';

const SECOND = 1_000;

function renewed(lifeSeconds: number) {
  let now = 1_000_000;
  let issued = 0;
  let away = false;
  const { log, lines } = readableLog();
  const issue = () => {
    if (away) return Promise.reject(new TokenUnavailable('the endpoint is away', { retriable: true }));
    issued += 1;
    return Promise.resolve({ value: `token ${issued}`, expiresAt: now + lifeSeconds * SECOND });
  };
  return {
    token: new RenewedToken({ issue, now: () => now, log }),
    lines,
    pass: (seconds: number) => void (now += seconds * SECOND),
    setAway: (is: boolean) => void (away = is),
  };
}

test('connections share a token, and those that ask at once share the request for it', async () => {
  const { token } = renewed(3_600);
  assert.deepEqual(await Promise.all([token.get(), token.get()]), ['token 1', 'token 1']);
  assert.equal(await token.get(), 'token 1');
});

for (const [life, when, seconds] of [
  [3_600, 'when a fifth of it is left', 2_880],
  [100, 'half a minute before its end', 70],
  [20, 'when half of it is over', 10],
] as const) {
  test(`a token with a life of ${life} s is renewed ${when}`, async () => {
    const { token, pass } = renewed(life);
    await token.get();
    pass(seconds - 1);
    assert.equal(await token.get(), 'token 1');
    pass(1);
    assert.equal(await token.get(), 'token 2');
  });
}

test('a token without a known end is for one connection', async () => {
  const { token } = renewed(0);
  assert.deepEqual([await token.get(), await token.get()], ['token 1', 'token 2']);
});

test('while its endpoint is away a token stays in use until it expires, and a warning says why', async () => {
  const { token, lines, pass, setAway } = renewed(3_600);
  await token.get();
  setAway(true);
  pass(3_599);
  assert.equal(await token.get(), 'token 1');
  assert.deepEqual(
    lines.map(({ level, reason }) => [level, reason]),
    [[40, 'the endpoint is away']],
  );
  pass(1);
  await assert.rejects(token.get(), /the endpoint is away/);
  setAway(false);
  assert.equal(await token.get(), 'token 2');
});
