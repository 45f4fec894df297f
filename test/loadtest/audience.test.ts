import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import test from 'node:test';
import { Audience } from '../../loadtest/clients/audience.ts';
import { STANDARD_LOAD } from '../../loadtest/run/load-options.ts';

test('clients that a server refuses are a fault at once, and not waited for', async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const audience = new Audience({ ...STANDARD_LOAD, sockets: 3 }, [(server.address() as AddressInfo).port]);
  t.after(() => audience.stop());
  await assert.rejects(audience.connect(), /expected 3 open sockets, got [123] that ended/);
});
