import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, it } from 'node:test';
import { OriginCheck } from '../../../src/server/origin-check.ts';

const from = (origin: string, host = 'a.example') => ({ host, origin });
const site = (name: string) => ({ host: 'a.example', 'sec-fetch-site': name });

describe('OriginCheck', () => {
  const B = 'https://b.example';
  const forwarded = { 'x-forwarded-host': 'b.example', origin: B };
  const cases: readonly [what: string, origins: string[], headers: IncomingHttpHeaders, allowed: boolean][] =
    [
      ['a client that is not a browser', [], { host: 'a.example' }, true],
      ['a client that is not a browser, though origins are listed', [B], { host: 'a.example' }, true],
      ['a page of the same host', [], from('http://a.example:4000', 'a.example:4000'), true],
      ['a page of the same host, its case aside', [], from('http://a.example', 'A.Example'), true],
      ['a page of the same host behind a proxy that ends TLS', [], from('https://a.example'), true],
      ['a standard port written out in Host only', [], from('https://a.example', 'a.example:443'), true],
      ['a page of another port', [], from('http://a.example:3000', 'a.example:4000'), false],
      ['a page of another host', [], from(B), false],
      ['a page of a host that begins alike', [], from('https://a.example.evil.example'), false],
      ['a page without an origin of its own', [], from('null'), false],
      ['a page without a host', [], from('file://', ''), false],
      ['nonsense for an origin', [], from('a.example'), false],
      ['user info in Host', [], from(B, 'x@a.example'), false],
      ['no Host to compare with', [], { origin: 'https://a.example' }, false],
      ['another host that a forwarding header names', [], { host: 'a.example', ...forwarded }, false],
      ['a page that is listed', [B], from(B), true],
      ['a listed host with another scheme', [B], from('http://b.example'), false],
      ['the same host, unlisted among others', [B], from('https://a.example'), false],
      ['a GET of a page of the same host', [], site('same-origin'), true],
      ['an address that a user has typed', [B], site('none'), true],
      ['an element of a page of another site', [], site('cross-site'), false],
      ['an element of a page of the same site', [], site('same-site'), false],
      ['a GET of a page of the same host, unlisted among others', [B], site('same-origin'), false],
      ['a GET of a listed page of the same host', [B, 'https://a.example'], site('same-origin'), true],
      ['an element of any page, if any may', ['*'], site('cross-site'), true],
      ['any page, if any may', ['*'], from('null'), true],
    ];
  for (const [what, origins, headers, allowed] of cases) {
    it(`${allowed ? 'lets in' : 'refuses'} ${what}`, () => {
      assert.equal(new OriginCheck(origins).allows(headers), allowed);
    });
  }

  it('names the expected origins and the one that came', () => {
    const headers = { host: 'a.example', origin: 'https://c.example' };
    assert.throws(() => new OriginCheck([]).demand(headers), {
      status: 403,
      message: 'expected an Origin that is the gateway\'s own host, got "https://c.example"',
    });
    assert.throws(() => new OriginCheck(['https://b.example']).demand(headers), {
      message: 'expected an Origin that is one of those listed in ORIGINS, got "https://c.example"',
    });
  });

  it('tells of each request that it refuses, and of no other', () => {
    const refused: unknown[] = [];
    const check = new OriginCheck(['https://b.example'], { add: (origin) => refused.push(origin) });
    check.demand({ host: 'a.example', origin: 'https://b.example' });
    assert.equal(check.refusal({ host: 'a.example' }), undefined);
    assert.equal(check.allows({ host: 'a.example', origin: 'https://c.example' }), false);
    assert.deepEqual(refused, []);
    assert.equal(check.refusal({ host: 'a.example', origin: 'https://c.example' })?.status, 403);
    assert.throws(() => check.demand({ host: 'a.example', origin: 'https://d.example' }));
    assert.deepEqual(refused, ['https://c.example', 'https://d.example']);
  });
});
