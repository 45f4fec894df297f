import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { GatewayWebSocket } from '../../../../src/transports/websocket/listen-to.ts';

test('a socket that is being closed is left to ws, whatever comes over it', async (t) => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, WebSocket: GatewayWebSocket });
  t.after(() => server.close());
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.after(() => client.terminate());
  const [socket] = (await once(server, 'connection')) as [WebSocket];
  socket.close(1000, 'bye');
  assert.doesNotThrow(() => socket.close(1002));
  const [code] = (await once(client, 'close')) as [number];
  assert.equal(code, 1000);
});
