import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OriginCheck } from '../../../src/server/origin-check.ts';

describe('OriginCheck', () => {
  const cases: readonly [
    what: string,
    origins: string[],
    headers: Record<string, string>,
    allowed: boolean,
  ][] = [
    ['a client that is not a browser', [], { host: 'a.example' }, true],
    [
      'a client that is not a browser, though origins are listed',
      ['https://b.example'],
      { host: 'a.example' },
      true,
    ],
    ['a page of the same host', [], { host: 'a.example:4000', origin: 'http://a.example:4000' }, true],
    ['a page of the same host, its case aside', [], { host: 'A.Example', origin: 'http://a.example' }, true],
    [
      'a page of the same host behind a proxy that ends TLS',
      [],
      { host: 'a.example', origin: 'https://a.example' },
      true,
    ],
    [
      'a standard port written out in Host only',
      [],
      { host: 'a.example:443', origin: 'https://a.example' },
      true,
    ],
    ['a page of another port', [], { host: 'a.example:4000', origin: 'http://a.example:3000' }, false],
    ['a page of another host', [], { host: 'a.example', origin: 'https://b.example' }, false],
    [
      'a page of a host that begins alike',
      [],
      { host: 'a.example', origin: 'https://a.example.evil.example' },
      false,
    ],
    ['a page without an origin of its own', [], { host: 'a.example', origin: 'null' }, false],
    ['a page without a host', [], { host: '', origin: 'file://' }, false],
    ['nonsense for an origin', [], { host: 'a.example', origin: 'a.example' }, false],
    ['user info in Host', [], { host: 'x@a.example', origin: 'https://b.example' }, false],
    ['no Host to compare with', [], { origin: 'https://a.example' }, false],
    [
      'another host that a forwarding header names',
      [],
      { host: 'a.example', 'x-forwarded-host': 'b.example', origin: 'https://b.example' },
      false,
    ],
    [
      'a page that is listed',
      ['https://b.example'],
      { host: 'a.example', origin: 'https://b.example' },
      true,
    ],
    [
      'a listed host with another scheme',
      ['https://b.example'],
      { host: 'a.example', origin: 'http://b.example' },
      false,
    ],
    [
      'the same host, unlisted among others',
      ['https://b.example'],
      { host: 'a.example', origin: 'https://a.example' },
      false,
    ],
    ['a GET of a page of the same host', [], { host: 'a.example', 'sec-fetch-site': 'same-origin' }, true],
    [
      'an address that a user has typed',
      ['https://b.example'],
      { host: 'a.example', 'sec-fetch-site': 'none' },
      true,
    ],
    [
      'an element of a page of another site',
      [],
      { host: 'a.example', 'sec-fetch-site': 'cross-site' },
      false,
    ],
    [
      'an element of a page of the same site',
      [],
      { host: 'a.example', 'sec-fetch-site': 'same-site' },
      false,
    ],
    [
      'a GET of a page of the same host, unlisted among others',
      ['https://b.example'],
      { host: 'a.example', 'sec-fetch-site': 'same-origin' },
      false,
    ],
    [
      'a GET of a page of the same host, which is listed',
      ['https://b.example', 'https://a.example'],
      { host: 'a.example', 'sec-fetch-site': 'same-origin' },
      true,
    ],
    [
      'an element of any page, if any may',
      ['*'],
      { host: 'a.example', 'sec-fetch-site': 'cross-site' },
      true,
    ],
    ['any page, if any may', ['*'], { host: 'a.example', origin: 'null' }, true],
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
