import assert from 'node:assert/strict';
import test from 'node:test';
import { joinPath, urlPath } from '../../../src/backends/path.ts';

for (const [base, path, joined] of [
  ['', '', '/'],
  ['', '/', '/'],
  ['/api', '', '/api'],
  ['/api', '/', '/api/'],
  ['/api', '/users/1', '/api/users/1'],
  ['/api', '/users/1/', '/api/users/1/'],
  ['/api', '/files/a.b..c', '/api/files/a.b..c'],
  ['/api', '/users/a%20b%2Fc', '/api/users/a%20b%2Fc'],
  ['/api', '/items;v=1/x', '/api/items;v=1/x'],
] as const) {
  test(`"${path}" below "${base}" is ${joined}`, () => assert.equal(joinPath(base, path), joined));
}

for (const path of [
  'users',
  '//evil.example/',
  '/..',
  '/../admin',
  '/users/./1',
  '/users/..',
  '/%2e%2e/admin',
  '/.%2E/admin',
  '/users/..%2fadmin',
  '/users/..%5Cadmin',
  '/users/..;/admin',
  '/users/..%3Ba/admin',
  '/users\\..\\admin',
  '/users/1?admin=true',
  '/users/1#x',
  '/users/a b',
  '/users/a\r\nHost: evil',
  '/users/ä',
  '/users/%zz',
  '/users/%ff',
  '/users/\0',
  '@evil.example/',
]) {
  test(`${JSON.stringify(path)} is refused`, () => {
    assert.throws(() => joinPath('/api', path), { name: 'TypeError', message: /^expected / });
  });
}

test('the error of a refused path does not quote it', () => {
  assert.throws(
    () => joinPath('/api', '/users/../secret'),
    (error: Error) => !error.message.includes('secret'),
  );
});

test('the tag makes any value one segment', () => {
  assert.equal(urlPath`/users/${'a/b?c#d é'}/bids/${7}`, '/users/a%2Fb%3Fc%23d%20%C3%A9/bids/7');
});

for (const hostile of ['..', '.', '../admin', '..\\admin', 'x/../../admin']) {
  test(`a value ${hostile} in a path is refused by the join, though encoded`, () => {
    assert.throws(() => joinPath('/api', urlPath`/users/${hostile}`), /stays below its base/);
  });
}

for (const value of ['', undefined, null, {}, ['a']]) {
  test(`the tag refuses ${JSON.stringify(value) ?? 'undefined'}`, () => {
    assert.throws(() => urlPath`/users/${value}`, /expected text, a number or a boolean in a path/);
  });
}
