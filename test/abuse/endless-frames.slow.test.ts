import assert from 'node:assert/strict';
import test from 'node:test';
import { startGateway } from '../helpers/gateway.ts';
import { graphFolder, itemSchema } from '../helpers/graph-folder.ts';
import { connectAndInit } from '../helpers/raw-socket.ts';

/** 130 MB: far more than the kernel and the client hold of what the gateway does not read. */
const MOST_FRAMES = 1_000_000;
const TOO_MUCH = 'sluice_closes_total{code="1008",reason="too_many_messages"}';

for (const [frame, pingSeconds] of [
  // A client that sends no pong is closed at the gateway's second ping: by then it has sent too much.
  ['ping', '5'],
  ['pong', '1'],
] as const) {
  test(`a socket whose client sends ${frame} frames without end, and does not read, is closed as sending too much`, async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': itemSchema('items') });
    const settings = { SOCKET_BUFFER_BYTES: '16384', PING_SECONDS: pingSeconds };
    const gateway = await startGateway(t, { GRAPH: folder, ...settings });
    const socket = await connectAndInit(t, gateway.graphqlUrl);
    socket.webSocket.pause();
    const data = Buffer.alloc(125);
    const closed = socket.closed.then(() => true);
    let sent = 0;
    while ((await gateway.metric(TOO_MUCH)) === 0) {
      assert.ok(sent < MOST_FRAMES, 'expected the gateway to stop reading, and to close the socket');
      // The gateway stops reading at some point, so that the client's own process would hold what it sends.
      if (socket.webSocket.bufferedAmount < 1_000_000) {
        for (let more = 0; more < 5_000; more += 1) socket.webSocket[frame](data);
        sent += 5_000;
      }
    }
    assert.ok((await gateway.metric('sluice_held_connections_total')) > 0);
    await gateway.untilMetric('sluice_connections', 0);
    socket.webSocket.resume();
    assert.equal(await closed, true);
  });
}
