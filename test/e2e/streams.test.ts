import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import test, { type TestContext } from 'node:test';
import { PATIENCE_MS } from '../helpers/eventually.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { bids, startBids, urlOf } from './bids.ts';

const gatewayOf = sharedGateway(startBids);
const aging = sharedGateway((scope) => startBids(scope, { CONNECTION_MAX_AGE_SECONDS: '1' }));

for (const type of ['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0']) {
  test(`a stream of ${type} that the gateway ends has its connection closed, so that a balancer chooses anew`, async (t) => {
    const gateway = await aging();
    const socket = connect(gateway.port, '127.0.0.1');
    t.after(() => socket.destroy());
    let got = '';
    socket.on('data', (chunk) => (got += chunk.toString()));
    const closed = once(socket, 'end', { signal: AbortSignal.timeout(PATIENCE_MS) });
    socket.write(`GET ${urlOf(gateway).slice(gateway.httpUrl.length)} HTTP/1.1\r\n`);
    socket.write(`Host: localhost\r\nAccept: ${type}\r\n\r\n`);
    await closed;
    assert.match(got, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n0\r\n\r\n$/);
  });
}

/** What a client gets that sends these bytes, until the gateway ends the connection or there is enough. */
async function raw(
  t: TestContext,
  { port }: GatewayProcess,
  bytes: string,
  enough: (text: string) => boolean,
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (enough(text)) break;
  }
  return text;
}

const headOf = (extra = ''): string =>
  `GET ${urlOf({ httpUrl: '' })} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n${extra}\r\n`;

test('a stream that is asked for behind another one waits for its end, and the first one goes on', async (t) => {
  const gateway = await gatewayOf();
  const text = raw(t, gateway, headOf() + headOf() + headOf(), (so) => so.includes('"n":2'));
  await gateway.untilMetric('sluice_subscribers', 1);
  await bids(gateway, 1, 3);
  assert.equal((await text).match(/HTTP\/1\.1 200/g)?.length, 1);
  await gateway.untilMetric('sluice_connections', 0);
});

test('a connection is used again once its stream has ended', async (t) => {
  const gateway = await gatewayOf();
  const wrong = urlOf({ httpUrl: '' }, 'subscription { nothing }');
  const first = `GET ${wrong} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n`;
  const query = `GET ${urlOf({ httpUrl: '' }, '{ me }')} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
  const text = await raw(t, gateway, first + query, (so) => so.includes('{"data":{"me":null}}'));
  assert.match(text, /event: complete\ndata:\n\n.*HTTP\/1\.1 200 OK.*\{"data":\{"me":null\}\}/s);
});

test('a client of HTTP/1.0 gets a stream without chunks', async (t) => {
  const gateway = await gatewayOf();
  const text = raw(t, gateway, headOf().replace('HTTP/1.1', 'HTTP/1.0'), (so) => so.includes('"n":2'));
  await gateway.untilMetric('sluice_subscribers', 1);
  await bids(gateway, 1, 3);
  const [head = '', body = ''] = (await text).split(/\r\n\r\n/);
  assert.doesNotMatch(head, /transfer-encoding/i);
  assert.match(
    body,
    /^retry: \d+\n:\n\nevent: next\nid: \S+\ndata: \{"data":\{"bid":\{"n":1\}\}\}\n\nevent: next\n/,
  );
});
