import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { ClientAddresses, TrustedProxies } from '../../../src/server/client-address.ts';
import { RequestClients } from '../../../src/server/request-clients.ts';
import { upTo } from '../../helpers/numbers.ts';

/** @param trusted undefined: it is not known which addresses are proxies */
function clientsBehind(trusted: readonly string[] | undefined, now = (): number => 0) {
  const addresses = new ClientAddresses(trusted && new TrustedProxies(trusted));
  const clients = new RequestClients({ addresses, requestsPerSecond: 50, now });
  const ownerOf = (socket: object, forwarded?: string) =>
    clients.ownerOf({ socket, headers: { 'x-forwarded-for': forwarded } } as unknown as IncomingMessage);
  return { clients, ownerOf };
}

const from = (remoteAddress: string) => ({ remoteAddress });

describe('the turns of requests', () => {
  it('are their connection’s as long as it is not known whose addresses connect', () => {
    const { ownerOf } = clientsBehind(undefined);
    const [first, second] = [from('203.0.113.1'), from('203.0.113.1')];
    assert.equal(ownerOf(first), ownerOf(first, '198.51.100.1'));
    assert.notEqual(ownerOf(first), ownerOf(second));
    assert.equal(ownerOf(first).secondsOfRequest, 1 / 50);
  });

  it('are their client’s address’s, on all connections, where that is known', () => {
    const { ownerOf } = clientsBehind(['10.0.0.0/8']);
    const client = ownerOf(from('10.0.0.1'), '198.51.100.1');
    assert.equal(ownerOf(from('10.0.0.2'), '1.1.1.1, 198.51.100.1'), client);
    assert.equal(ownerOf(from('198.51.100.1')), client);
    assert.notEqual(ownerOf(from('10.0.0.1'), '198.51.100.2'), client);
  });

  it('are half of the event loop for all clients together whom a trusted proxy hides', () => {
    const { ownerOf } = clientsBehind(['10.0.0.0/8']);
    const hidden = ownerOf(from('10.0.0.1'));
    assert.equal(ownerOf(from('10.0.0.2'), '10.0.0.3'), hidden);
    assert.deepEqual([hidden.msPerSecond, hidden.burstMs, hidden.secondsOfRequest], [500, 500, 0]);
  });

  it('are forgotten of an address that has been quiet, and no sooner', () => {
    let now = 0;
    const { clients, ownerOf } = clientsBehind([], () => now);
    const owners = upTo(100).map((n) => ownerOf(from(`203.0.113.${n}`)));
    now = 59_999;
    const busy = ownerOf(from('203.0.113.7'));
    assert.deepEqual([busy, clients.size], [owners[7], 100]);
    busy.spentUntil = 200_000;
    now = 150_000;
    ownerOf(from('198.51.100.1'));
    assert.equal(clients.size, 2);
    assert.equal(ownerOf(from('203.0.113.7')), busy);
  });

  it('are remembered of so many addresses, however busy they are', () => {
    const { clients, ownerOf } = clientsBehind([]);
    for (let n = 0; n < 12_000; n += 1)
      ownerOf(from(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)).spentUntil = 1;
    assert.equal(clients.size, 10_000);
  });
});
