import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { HostCheck } from '../../../src/server/host-check.ts';
import { ask, dial, done, errorOf, listen, upgradeRequest } from './serve.ts';

const LOCAL = ['127.0.0.1', '::1', '::ffff:127.0.0.1'];
const OTHER = '10.1.2.3';

const refusal = (hosts: readonly string[] | 'loopback', remoteAddress: string, host?: string) =>
  new HostCheck(hosts).refusal({
    socket: { remoteAddress },
    headers: host === undefined ? {} : { host },
  } as unknown as IncomingMessage);

describe('HostCheck', () => {
  it('lets every host pass with *', () => {
    for (const peer of [...LOCAL, OTHER]) {
      for (const host of ['evil.example', undefined]) assert.equal(refusal(['*'], peer, host), undefined);
    }
  });

  it('of peers on this machine demands that they name it, so that no rebound name reaches a developer', () => {
    for (const peer of LOCAL) {
      for (const host of ['localhost', 'LOCALHOST:4000', '[::1]:4000']) {
        assert.equal(refusal('loopback', peer, host), undefined, host);
      }
      for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:4000']) {
        assert.match(refusal('loopback', peer, host) ?? '', new RegExp(`HOSTS, got "${host}"$`));
      }
      assert.match(refusal('loopback', peer) ?? '', /got none$/);
    }
    assert.equal(refusal('loopback', OTHER, 'www.example.com'), undefined);
  });

  it('lets only listed hosts pass where some are, with any port and in any case', () => {
    const hosts = ['www.example.com', '[fd00::1]'];
    for (const host of ['www.example.com', 'WWW.example.com:8443', '[fd00::1]:4000']) {
      for (const peer of [...LOCAL, OTHER]) assert.equal(refusal(hosts, peer, host), undefined, host);
    }
    for (const host of ['example.com', 'www.example.com.x.example', 'www.example.com:x', '', 'localhost']) {
      const refused = refusal(hosts, OTHER, host) ?? '';
      assert.equal(refused, `expected a Host that is listed in HOSTS, got "${host}"`);
    }
    assert.equal(refusal(hosts, '127.0.0.1', 'localhost:4000'), undefined);
  });
});

describe('a server with a check of hosts', () => {
  it('refuses requests and upgrades for others before any route sees them', async (t) => {
    const { port } = await listen(t, {
      hostCheck: new HostCheck('loopback'),
      handle: done,
      upgrade: () => assert.fail('upgraded'),
    });
    const answer = await ask(port, '/', { headers: { host: 'evil.example' }, method: 'POST', body: '{}' });
    assert.equal(answer.status, 403);
    assert.match(errorOf(answer), /"evil\.example"/);
    assert.equal((await ask(port, '/')).body, 'done');
    const client = dial(t, port, upgradeRequest('/').replace('localhost', 'evil.example'));
    assert.match(await text(client), /^HTTP\/1\.1 403 .*evil\.example/s);
  });
});
