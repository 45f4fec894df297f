import assert from 'node:assert/strict';
import test from 'node:test';
import { ClaimPicker } from '../../../src/auth/claims.ts';
import { TokenRefusal } from '../../../src/auth/refusal.ts';
import type { Token } from '../../../src/auth/token.ts';
import { Authenticator } from '../../../src/context/authenticator.ts';
import { TokenAuthenticator } from '../../../src/context/token-authenticator.ts';
import type { GraphDefinition } from '../../../src/graph/api/define-graph.ts';
import { createLog } from '../../../src/log.ts';

const REQUEST = { headers: {}, url: '/graphql', remoteAddress: undefined };

const TOKEN: Token = {
  claims: { sub: 'ann', role: 'seller', exp: 2, iat: 1 },
  issuer: undefined,
  subject: 'ann',
  issuedAt: 1,
  expiresAt: 2,
};

/** Every text but `bad` is a token of Ann. */
function setUp(
  authenticate?: GraphDefinition['authenticate'],
  options: { anonymous?: boolean; revoked?: boolean; unread?: boolean; token?: Token } = {},
) {
  const log = createLog('silent');
  const unavailable = { times: 0 };
  const authenticator = new TokenAuthenticator({
    verifier: {
      verify: async (text) => {
        if (text === 'later') return new TokenRefusal('not now', true);
        return text === 'bad' ? new TokenRefusal('bad token') : (options.token ?? TOKEN);
      },
    },
    revocations: { covers: () => options.revoked ?? false },
    revocationsAreRead: () => options.unread !== true,
    claims: new ClaimPicker(['id=sub', 'role']),
    cookie: undefined,
    anonymous: options.anonymous ?? false,
    keysUnavailable: () => (unavailable.times += 1),
    authenticator: new Authenticator(authenticate === undefined ? {} : { authenticate }, 1_000, log),
  });
  const viewerOf = async (params: Record<string, unknown>): Promise<unknown> => {
    const identity = await authenticator.identify(params, REQUEST);
    return identity instanceof TokenRefusal ? identity.reason : identity.viewer;
  };
  return { authenticator, viewerOf, unavailable };
}

test('without code the picked claims are the viewer, and equal viewers are one object', async () => {
  const { viewerOf } = setUp();
  assert.deepEqual(await viewerOf({ token: 'good' }), { id: 'ann', role: 'seller' });
  assert.equal(await viewerOf({ token: 'a' }), await viewerOf({ token: 'b' }));
});

test('the graph gets the claims and makes the viewer, at a fresh token too', async () => {
  const calls: unknown[] = [];
  const { authenticator, viewerOf } = setUp((params, request, claims) => {
    calls.push([params, request, claims]);
    return { name: `${String(claims?.['sub'])} of ${String(params['tenant'])}` };
  });
  assert.deepEqual(await viewerOf({ token: 'good', tenant: 1 }), { name: 'ann of 1' });
  const fresh = await authenticator.refresh({ token: 'good', tenant: 2 }, REQUEST);
  assert.deepEqual(fresh, { viewer: { name: 'ann of 2' }, token: TOKEN });
  const expected = [1, 2].map((tenant) => [{ token: 'good', tenant }, REQUEST, TOKEN.claims]);
  assert.deepEqual(calls, expected);
});

test('the graph is not asked about a token that is not valid, and may refuse one that is', async () => {
  let calls = 0;
  const { viewerOf } = setUp(() => ((calls += 1), null), { anonymous: true });
  assert.equal(await viewerOf({ token: 'bad' }), 'bad token');
  assert.equal(calls, 0);
  assert.equal(await viewerOf({ token: 'good' }), 'The graph refuses this identity');
});

test('a client without a token is let in only if anonymous ones are, and the graph gets null for its claims', async () => {
  assert.equal(await setUp().viewerOf({}), 'Expected a token, got none');
  assert.deepEqual(await setUp(undefined, { anonymous: true }).viewerOf({}), {});
  const asked = setUp((_params, _request, claims) => ({ claims }), { anonymous: true });
  assert.deepEqual(await asked.viewerOf({}), { claims: null });
});

test('a viewer that is revoked is refused', async () => {
  const { authenticator, viewerOf } = setUp(undefined, { revoked: true });
  const reason = 'Access was revoked: a token that was issued since is needed';
  assert.equal(await viewerOf({ token: 'good' }), reason);
  assert.deepEqual(await authenticator.refresh({ token: 'good' }, REQUEST), new TokenRefusal(reason));
});

test('a viewer that is revoked is told if it is the missing iat for which its token does not count as fresh', async () => {
  const { viewerOf } = setUp(undefined, { revoked: true, token: { ...TOKEN, issuedAt: undefined } });
  const reason = String(await viewerOf({ token: 'good' }));
  assert.match(reason, /^Access was revoked: .* got one without iat$/);
  // What a close frame holds.
  assert.ok(Buffer.byteLength(reason) <= 123);
});

test('clients whose tokens can not be verified for now are told of, unlike those with a bad token or a fresh one', async () => {
  const { authenticator, viewerOf, unavailable } = setUp();
  assert.equal(await viewerOf({ token: 'bad' }), 'bad token');
  const refresh = await authenticator.refresh({ token: 'later' }, REQUEST);
  assert.ok(refresh instanceof TokenRefusal && refresh.isTemporary);
  assert.equal(unavailable.times, 0);
  assert.equal(await viewerOf({ token: 'later' }), 'not now');
  assert.equal(unavailable.times, 1);
});

test('before it has been read who is revoked, no token lets a client in, who is to try again; one without a token may', async () => {
  const { authenticator } = setUp(undefined, { anonymous: true, unread: true });
  const refusal = await authenticator.identify({ token: 'good' }, REQUEST);
  assert.ok(refusal instanceof TokenRefusal && refusal.isTemporary);
  assert.equal(refusal.reason, 'This pod has not read yet who is revoked: try again later');
  assert.ok(!((await authenticator.identify({}, REQUEST)) instanceof TokenRefusal));
});
