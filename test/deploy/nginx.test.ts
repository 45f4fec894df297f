import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import test, { type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { startGateway } from '../helpers/gateway.ts';
import { startNginx } from '../helpers/nginx.ts';
import { needs } from '../helpers/services.ts';

/** Many times as many as two pods admit in a second. */
const ATTEMPTS = 100;
const AT_ONCE = 10;

/** @returns the status of the answer to a handshake */
async function handshake(t: TestContext, address: string): Promise<number> {
  const webSocket = new WebSocket(`ws://${address}/graphql`, 'graphql-transport-ws');
  t.after(() => webSocket.terminate());
  const refusal = once(webSocket, 'unexpected-response').then(([, answer]) => {
    (answer as IncomingMessage).resume();
    return (answer as IncomingMessage).statusCode ?? 0;
  });
  return Promise.race([once(webSocket, 'open').then(() => 101), refusal]);
}

test(
  'pods that refuse clients for a moment, as too many come, are asked again for the next',
  needs('nginx'),
  async (t) => {
    const settings = { CONNECTIONS_PER_SECOND: '2' };
    const pods = await Promise.all([startGateway(t, settings), startGateway(t, settings)]);
    const nginx = await startNginx(
      t,
      pods.map(({ port }) => port),
    );
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < ATTEMPTS; attempt += AT_ONCE) {
      const handshakes = Array.from({ length: AT_ONCE }, () => handshake(t, nginx.address));
      for (const status of await Promise.all(handshakes)) statuses.add(status);
    }
    // nginx answers 502 while it counts all gateways as failed.
    assert.deepEqual([...statuses].toSorted(), [101, 503]);
  },
);
