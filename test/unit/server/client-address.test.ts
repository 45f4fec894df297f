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
  it('is not known as long as it is not known which addresses are proxies', () => {
    assert.equal(addressOf('203.0.113.1'), undefined);
    assert.equal(addressOf('203.0.113.1', '198.51.100.1'), undefined);
  });

  it('is the peer that is no proxy: the header does not count', () => {
    assert.equal(addressOf('203.0.113.1', undefined, []), '203.0.113.1');
    assert.equal(addressOf('203.0.113.1', '198.51.100.1', PROXIES), '203.0.113.1');
    assert.equal(addressOf('::ffff:203.0.113.1', '198.51.100.1', PROXIES), '203.0.113.1');
  });

  it('is the last in X-Forwarded-For that is no proxy, without its port', () => {
    for (const [peer, forwarded, client = '198.51.100.1'] of [
      ['::ffff:10.1.2.3', '1.1.1.1, 198.51.100.1,192.0.2.7'],
      ['fd00::1', '1.1.1.1, 198.51.100.1, 10.0.0.1'],
      ['10.1.2.3', '198.51.100.1:4711'],
      ['10.1.2.3', '[2001:db8::1]:4711', '2001:db8:0:0::/64'],
    ] as const) {
      assert.equal(addressOf(peer, forwarded, PROXIES), client, forwarded);
    }
  });

  it('is IPv4 in each form of IPv4 in IPv6, so that such clients do not share one network', () => {
    for (const address of [
      '::ffff:198.51.100.1',
      '::ffff:c633:6401',
      '0:0:0:0:0:ffff:c633:6401',
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
      ['::1', '0:0:0:0::/64'],
      ['::', '0:0:0:0::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['64:ff9b::203.0.113.1', '64:ff9b:0:0::/64'],
      ['1:2:3:4:5:6:203.0.113.1', '1:2:3:4::/64'],
      ['1::5:6:7:8', '1:0:0:0::/64'],
      ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
      ['::c633:6401', '0:0:0:0::/64'],
      ['::fffe:c633:6401', '0:0:0:0::/64'],
      ['::1:ffff:c633:6401', '0:0:0:0::/64'],
    ] as const) {
      assert.equal(addressOf(address, undefined, []), network, address);
    }
  });

  it('is not known where proxies name none, or only each other', () => {
    for (const forwarded of [undefined, '10.9.9.9, 10.8.8.8', '198.51.100.1, unknown', '198.51.100.1, ']) {
      assert.equal(addressOf('10.1.2.3', forwarded, PROXIES), undefined, forwarded);
    }
    assert.equal(addressOf(undefined, '198.51.100.1', PROXIES), undefined);
  });
});
