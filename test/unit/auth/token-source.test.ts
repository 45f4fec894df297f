import assert from 'node:assert/strict';
import test from 'node:test';
import { ClaimPicker } from '../../../src/auth/claims.ts';
import { TokenRefusal } from '../../../src/auth/refusal.ts';
import { findToken } from '../../../src/auth/token-source.ts';

const found = (params: object, headers: object = {}, cookie?: string): unknown => {
  const token = findToken(params as Record<string, unknown>, { headers } as never, cookie);
  return token instanceof TokenRefusal ? token.reason : token;
};

test('the first of token, authorization, header and cookie counts', () => {
  const origin = 'https://pages.example';
  const headers = { authorization: 'Bearer c', cookie: 'session=d', origin };
  assert.equal(found({ token: 'a', authorization: 'Bearer b' }, headers, 'session'), 'a');
  assert.equal(found({ authorization: 'Bearer b' }, headers, 'session'), 'b');
  assert.equal(found({ Authorization: 'bearer  b' }, headers, 'session'), 'b');
  assert.equal(found({}, headers, 'session'), 'c');
  assert.equal(found({}, { cookie: headers.cookie, origin }, 'session'), 'd');
  assert.equal(found({}, {}, 'session'), undefined);
});

test('a cookie counts by its whole name, if the setting names it and the request has an origin', () => {
  const headers = {
    cookie: 'mysession=a; session=b=; session2=c; session=d',
    origin: 'https://pages.example',
  };
  assert.equal(found({}, headers, 'session'), 'b=');
  assert.equal(found({}, headers), undefined);
  assert.equal(found({}, { cookie: headers.cookie }, 'session'), undefined);
  assert.equal(found({}, { ...headers, cookie: 'session=; sessio' }, 'session'), undefined);
});

test('what is no token is refused, rather than the next place looked at', () => {
  const headers = { authorization: 'Bearer c' };
  assert.equal(found({ token: { a: 1 } }, headers), 'Expected token to be text');
  for (const authorization of ['c', 'Basic c', 'Bearer', 'Bearer a b', 7]) {
    assert.equal(found({ authorization }, headers), 'Expected authorization to be "Bearer " and a token');
  }
});

test('a header of another scheme than Bearer does not count: what it says is for a proxy', () => {
  const others = { cookie: 'session=d', origin: 'https://pages.example' };
  for (const authorization of ['Basic YTpi', 'Bearer', 'Bearertoken', '']) {
    assert.equal(found({}, { authorization, ...others }, 'session'), 'd');
    assert.equal(found({}, { authorization }), undefined);
  }
  const refused = 'Expected authorization to be "Bearer " and a token';
  assert.equal(found({}, { authorization: 'bearer a b', ...others }, 'session'), refused);
  assert.equal(found({ authorization: 'Basic YTpi' }, others, 'session'), refused);
});

test('a header that is a token without Bearer is refused with what is missing, unless a cookie has one', () => {
  const headers = { authorization: 'eyJh.eyJz.c2ln_-' };
  assert.equal(found({}, headers), 'Expected authorization to be "Bearer " and a token');
  const origin = 'https://pages.example';
  assert.equal(found({}, { ...headers, cookie: 'session=d', origin }, 'session'), 'd');
});

test('claims become properties of the viewer by name, path or another name', () => {
  const admin = 'https://a.example/admin';
  const picker = new ClaimPicker(['id=sub', 'role', 'org=organization.id', `admin=${admin}`, 'missing']);
  const organization = { id: 7, name: 'x' };
  const viewer = picker.viewerOf({ sub: 'ann', role: ['a'], organization, [admin]: true });
  assert.deepEqual(viewer, { id: 'ann', role: ['a'], org: 7, admin: true });
  assert.ok(Object.isFrozen(viewer));
});

test('a cookie counts with a GET of a page of the same host, which has no origin', () => {
  const cookie = 'session=d';
  assert.equal(found({}, { cookie, 'sec-fetch-site': 'same-origin' }, 'session'), 'd');
  for (const site of ['same-site', 'cross-site', 'none']) {
    assert.equal(found({}, { cookie, 'sec-fetch-site': site }, 'session'), undefined);
  }
});
