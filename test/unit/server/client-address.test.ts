import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { ClientAddresses, TrustedProxies } from '../../../src/server/client-address.ts';

function addressOf(remoteAddress: string | undefined, forwarded?: string, trusted?: readonly string[]) {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const request = { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
  return new ClientAddresses(trusted && new TrustedProxies(trusted)).of(request);
}

const PROXIES = ['10.0.0.0/8', '192.0.2.7', 'fd00::/8'];

describe('the address of a client', () => {
  for (const [what, peer, forwarded, trusted, expected] of [
    [
      'not known as long as it is not known which addresses are proxies',
      '203.0.113.1',
      '198.51.100.1',
      undefined,
      undefined,
    ],
    ['the peer where there are no proxies', '203.0.113.1', undefined, [], '203.0.113.1'],
    [
      'the peer that is no proxy: the header does not count',
      '203.0.113.1',
      '198.51.100.1',
      PROXIES,
      '203.0.113.1',
    ],
    [
      'the last in X-Forwarded-For that is no proxy',
      '::ffff:10.1.2.3',
      '1.1.1.1, 198.51.100.1,192.0.2.7',
      PROXIES,
      '198.51.100.1',
    ],
    ['found behind proxies of IPv6', 'fd00::1', '1.1.1.1, 198.51.100.1, 10.0.0.1', PROXIES, '198.51.100.1'],
    ['without its port', '10.1.2.3', '198.51.100.1:4711', PROXIES, '198.51.100.1'],
    ['without its port, of IPv6', '10.1.2.3', '[2001:db8::1]:4711', PROXIES, '2001:db8:0:0::/64'],
    ['not known where proxies name none', '10.1.2.3', undefined, PROXIES, undefined],
    ['not known where proxies name each other', '10.1.2.3', '10.9.9.9, 10.8.8.8', PROXIES, undefined],
    ['not known where a proxy names what is none', '10.1.2.3', '198.51.100.1, unknown', PROXIES, undefined],
    ['not known where a proxy names nothing', '10.1.2.3', '198.51.100.1, ', PROXIES, undefined],
    ['not known of a peer that has gone', undefined, '198.51.100.1', PROXIES, undefined],
  ] as const) {
    it(`is ${what}`, () => assert.equal(addressOf(peer, forwarded, trusted), expected));
  }

  it('is IPv4 in each form of IPv4 in IPv6, so that such clients do not share one network', () => {
    for (const address of [
      '::ffff:198.51.100.1',
      '::FFFF:198.51.100.1',
      '::ffff:c633:6401',
      '0:0:0:0:0:ffff:c633:6401',
      '0:0:0:0:0:ffff:198.51.100.1',
      '0000:0000:0000:0000:0000:ffff:c633:6401',
      '0::ffff:c633:6401',
      '[::ffff:c633:6401]:4711',
      '::ffff:c633:6401%eth0',
    ]) {
      assert.equal(addressOf(address, undefined, []), '198.51.100.1', address);
      assert.equal(addressOf('10.1.2.3', address, PROXIES), '198.51.100.1', address);
    }
    assert.equal(addressOf('0:0:0:0:0:ffff:a01:203', '198.51.100.1', PROXIES), '198.51.100.1');
  });

  it('of IPv6 is its network', () => {
    for (const [address, network] of [
      ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:db8:1:2:ffff::', '2001:db8:1:2::/64'],
      ['2001:0db8::1', '2001:db8:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['::', '0:0:0:0::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['64:ff9b::203.0.113.1', '64:ff9b:0:0::/64'],
      ['1:2:3:4:5:6:203.0.113.1', '1:2:3:4::/64'],
      ['1::5:6:7:8', '1:0:0:0::/64'],
      ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
      ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
      ['::c633:6401', '0:0:0:0::/64'],
      ['::fffe:c633:6401', '0:0:0:0::/64'],
      ['::1:ffff:c633:6401', '0:0:0:0::/64'],
    ] as const) {
      assert.equal(addressOf(address, undefined, []), network, address);
    }
  });
});
