import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { messagesOf } from '../../loadtest/clients/transports.ts';
import { Changes } from '../helpers/changes.ts';

const push = (seq: string) => {
  const data = { channel: 'c00007', seq, sentAt: 5, bodyText: 'text' };
  return JSON.stringify({ push: { channel: 'c00007', pub: { data } } });
};

test("the load test's client speaks Centrifugo's protocol: it answers pings, and reads several messages of a frame", async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/connection/websocket' });
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const changes = new Changes();
  const [seen, sent]: [unknown[], unknown[]] = [[], []];
  const messages = messagesOf('centrifugo');
  const connected = once(server, 'connection') as Promise<[WebSocket]>;
  const ended = new Promise<string>((resolve) => {
    const receiver = {
      acknowledged: () => changes.emit(),
      text: (bytes: Buffer, start: number, end: number) => {
        seen.push(messages.read(bytes.toString('utf8', start, end))?.payload);
        changes.emit();
      },
      ended: resolve,
    };
    const payload = { query: '', variables: { channel: 'c00007' } };
    messages.connect({ host: '127.0.0.1', port }, '127.0.0.1', receiver, '1', payload);
  });
  const [socket] = await connected;
  const answers = [
    () => socket.send('{"id":1,"connect":{"ping":25,"pong":true}}'),
    () => socket.send(['{"id":2,"subscribe":{}}', push('1'), '{}', push('2')].join('\n')),
    () => socket.close(3004, 'stale'),
  ];
  socket.on('message', (message: RawData) => {
    sent.push(JSON.parse((message as Buffer).toString()));
    answers.shift()?.();
  });
  assert.equal(await ended, '3004');
  assert.deepEqual(sent, [{ id: 1, connect: {} }, { id: 2, subscribe: { channel: 'c00007' } }, {}]);
  const update = { channel: 'c00007', sent_at: 5, body_text: 'text' };
  assert.deepEqual(seen, [
    undefined,
    { data: { update: { ...update, seq: '1' } } },
    { data: { update: { ...update, seq: '2' } } },
  ]);
});
