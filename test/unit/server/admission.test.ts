import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough, type Duplex } from 'node:stream';
import { describe, it } from 'node:test';
import { range } from '../../helpers/numbers.ts';
import { AddressCaps } from '../../../src/server/address-caps.ts';
import { Admission } from '../../../src/server/admission.ts';
import { PodCaps } from '../../../src/server/pod-caps.ts';

/** An admission over all caps, and time that a test moves on. */
function setUp(caps: { connections?: number; perAddress?: number; rate?: number; addressRate?: number }) {
  const connections = { size: 0, handshakes: { size: 0 } };
  const clock = { ms: 1_000_000 };
  const now = (): number => clock.ms;
  const refused: string[] = [];
  const addresses = new AddressCaps({
    addresses: { of: ({ url }: IncomingMessage) => url },
    maxConnections: caps.perAddress ?? Infinity,
    connectionsPerSecond: caps.addressRate ?? 0,
    now,
  });
  const pod = new PodCaps({
    connections,
    maxConnections: caps.connections ?? Infinity,
    maxHandshakes: 10,
    connectionsPerSecond: caps.rate ?? 0,
    now,
  });
  const admission = new Admission({
    checks: [addresses, pod],
    refused: (reason) => refused.push(reason),
    random: () => 0.99,
  });
  /** @returns the socket; undefined if it was refused */
  const connect = (address?: string): Duplex | undefined => {
    const request = { url: address } as IncomingMessage;
    const refusal = admission.refusal(request);
    if (refusal !== undefined) {
      assert.deepEqual({ ...refusal, message: '' }, { status: 503, message: '', retryAfter: 10 });
      return undefined;
    }
    const socket = new PassThrough();
    admission.admitted(request, socket);
    return socket;
  };
  const admittedOf = (count: number, address?: string): number =>
    range(0, count).filter(() => connect(address) !== undefined).length;
  return { connections, clock, refused, addresses, connect, admittedOf };
}

describe('admission', () => {
  it('refuses a connection past those of the pod, and one more handshake', () => {
    const { connections, refused, connect } = setUp({ connections: 2 });
    connections.size = 2;
    assert.equal(connect(), undefined);
    connections.size = 1;
    assert.ok(connect());
    connections.handshakes.size = 10;
    assert.equal(connect(), undefined);
    assert.deepEqual(refused, ['connections', 'handshakes']);
  });

  it('counts connections of an address until their sockets have closed', async () => {
    const { refused, addresses, connect, admittedOf } = setUp({ perAddress: 3 });
    const first = connect('a');
    assert.equal(admittedOf(5, 'a'), 2);
    assert.equal(admittedOf(1, 'b'), 1);
    assert.equal(admittedOf(10), 10, 'an address that is not known has no cap');
    assert.deepEqual(addresses.inspect(1), { count: 2, largest: [{ address: 'a', connections: 3 }] });
    assert.ok(first);
    first.destroy();
    await once(first, 'close');
    assert.equal(admittedOf(2, 'a'), 1);
    assert.deepEqual(new Set(refused), new Set(['connections_of_address']));
  });

  for (const [what, rate, atOnce, nextMs] of [
    ['as many at once as in a second', 4, 4, 250],
    ['one, where the share of a process is less than one in a second', 0.25, 1, 4_000],
  ] as const) {
    it(`takes ${what}, then one after the other`, () => {
      const { clock, refused, admittedOf } = setUp({ rate });
      assert.equal(admittedOf(10), atOnce);
      clock.ms += nextMs - 1;
      assert.equal(admittedOf(10), 0);
      clock.ms += 1;
      assert.equal(admittedOf(10), 1);
      clock.ms += 60_000;
      assert.equal(admittedOf(10), atOnce);
      assert.deepEqual(new Set(refused), new Set(['connection_rate']));
    });
  }

  it('says which share of a rate is that of this process, rounded', () => {
    const rate = { maxConnections: Infinity, connectionsPerSecond: 4 / 3, now: () => 0 };
    const connections = { size: 0, handshakes: { size: 0 } };
    const pod = new PodCaps({ ...rate, connections, maxHandshakes: 10 });
    const address = new AddressCaps({ ...rate, addresses: { of: () => 'a' } });
    const request = {} as IncomingMessage;
    for (const caps of [pod, address]) caps.admitted(request, new PassThrough());
    const most = 'expected at most 1.33 new connections a second';
    assert.equal(pod.fault()?.message, `${most} to this process, got more`);
    assert.equal(address.fault(request)?.message, `${most} of an address to this process, got more`);
  });

  it('remembers the rate of an address whose connections have closed, and forgets it afterwards', async () => {
    const { clock, refused, addresses, connect, admittedOf } = setUp({ addressRate: 2 });
    for (const socket of [connect('a'), connect('a')]) {
      assert.ok(socket);
      socket.destroy();
      await once(socket, 'close');
    }
    assert.equal(addresses.inspect(10).count, 0);
    assert.equal(admittedOf(3, 'a'), 0);
    assert.equal(admittedOf(3, 'b'), 2);
    clock.ms += 1_000;
    assert.equal(admittedOf(3, 'a'), 2);
    assert.deepEqual(new Set(refused), new Set(['connection_rate_of_address']));
  });

  it('spends nothing of the rate of the pod on what an address may not have', () => {
    const { admittedOf } = setUp({ rate: 4, perAddress: 1 });
    assert.equal(admittedOf(100, 'a'), 1);
    assert.equal(admittedOf(100, 'b'), 1);
    assert.equal(admittedOf(100), 2);
  });
});
