import assert from 'node:assert/strict';
import test from 'node:test';
import { backend, empty, failure, setUp } from './fixture.ts';

test('a list forwards the token as a bearer and other values by their paths', async (t) => {
  const forward = ['token', 'id', 'tenant.account_id', 'admin'];
  const { server, bind } = await backend(t, empty, { forward });
  const viewer = { token: 'abc', id: 7, tenant: { account_id: 'x' }, admin: false, secret: 's' };
  await bind({ viewer: () => viewer }).get('/');
  const { headers } = server.requests[0] ?? assert.fail();
  assert.equal(headers.authorization, 'Bearer abc');
  assert.equal(headers['x-viewer-id'], '7');
  assert.equal(headers['x-viewer-tenant-account-id'], 'x');
  assert.equal(headers['x-viewer-admin'], 'false');
  assert.doesNotMatch(JSON.stringify(headers), /secret/);
});

test('a record names the headers itself, and sends values as they are', async (t) => {
  const forward = { Authorization: 'token', 'X-Role': 'roles.0' };
  const { server, bind } = await backend(t, empty, { forward });
  await bind({ viewer: () => ({ token: 'Basic abc', roles: ['bidder'] }) }).get('/');
  const { headers } = server.requests[0] ?? assert.fail();
  assert.equal(headers.authorization, 'Basic abc');
  assert.equal(headers['x-role'], 'bidder');
});

test('absent and null values are left out', async (t) => {
  const { server, bind } = await backend(t, empty, {
    forward: ['token', 'tenant.id', 'name.length', 'role'],
  });
  await bind({ viewer: () => ({ name: 'Ann', role: null }) }).get('/');
  const names = Object.keys(server.requests[0]?.headers ?? {});
  assert.deepEqual(
    names.filter((name) => name === 'authorization' || name.startsWith('x-viewer')),
    [],
  );
});

test('a back end reads of the viewer only what it forwards, and nothing if it forwards nothing', async (t) => {
  const asked: string[] = [];
  const viewer = (): unknown => {
    asked.push('viewer');
    return new Proxy({ id: 1, token: 'abc' }, { get: (_target, key) => void asked.push(String(key)) });
  };
  const { server, bind } = await backend(t, empty);
  await bind({ viewer }).get('/');
  await setUp(t, { url: server.url, forward: [] }).bind({ viewer }).get('/');
  assert.deepEqual(asked, []);
  const call = setUp(t, { url: server.url, forward: ['token'] })
    .bind({ viewer })
    .get('/');
  assert.deepEqual(asked, ['viewer', 'token'], 'in the turn of the call');
  await call;
  assert.deepEqual(asked, ['viewer', 'token']);
});

test('when reading the viewer throws, the call rejects with that error', async (t) => {
  const { bind } = setUp(t, { url: 'http://127.0.0.1:1', forward: ['token'] });
  const hint = new Error('loaders have no viewer');
  const viewer = (): never => {
    throw hint;
  };
  await assert.rejects(bind({ viewer }).get('/'), hint);
});

for (const [what, token] of [
  ['a line break', 'abc\r\nx-admin: true'],
  ['what no header can hold', 'Łukasz'],
  ['an object', { a: 1 }],
  ['a list', ['a']],
] as const) {
  test(`${what} is not forwarded: the call fails with an error that does not show the value`, async (t) => {
    const { server, bind, lines } = await backend(t, empty, { forward: ['token'] });
    const error = await failure(bind({ viewer: () => ({ token }) }).get('/'), 'BACKEND_BAD_REQUEST');
    assert.equal(server.requests.length, 0);
    assert.doesNotMatch(JSON.stringify(error) + lines.join(''), /abc|Łukasz/);
  });
}

test('forwarded values win over those of the service, and the call’s own over both', async (t) => {
  const { server, bind } = await backend(t, empty, {
    headers: () => ({ Authorization: 'Bearer service' }),
    forward: ['token'],
  });
  await bind().get('/');
  const viewers = bind({ viewer: () => ({ token: 'viewer' }) });
  await viewers.get('/');
  await viewers.get('/', { headers: { authorization: 'own' } });
  assert.deepEqual(
    server.requests.map((request) => request.headers.authorization),
    ['Bearer service', 'Bearer viewer', 'own'],
  );
});
