import { RawClient } from '../clients/raw-client.ts';
import { QUERY } from '../run/workload.ts';

/** All the ways in which a client leaves: each takes another path through the server. */
const WAYS = ['complete', 'close', 'break'] as const;

/**
 * Connects, subscribes and leaves. Resolves when the socket has closed.
 *
 * @param index counts from 0; picks the channel, the variables and the way of leaving
 */
export function cycle(port: number, index: number, channels: number): Promise<void> {
  const way = WAYS[index % WAYS.length];
  const localAddress = `127.0.1.${1 + (index % 20)}`;
  return new Promise((resolve, reject) => {
    const client = new RawClient({ host: '127.0.0.1', port }, localAddress, {
      acknowledged: () => {
        const variables = { channel: `c${index % channels}`, tag: index % 2 === 0 ? String(index) : 'same' };
        client.send({ id: '1', type: 'subscribe', payload: { query: QUERY, variables } });
        // The server answers the ping only after it has taken in the subscription: it handles messages in turn.
        client.send({ type: 'ping' });
      },
      text: (bytes, start, end) => {
        const { type } = JSON.parse(bytes.toString('utf8', start, end)) as { type: string };
        if (type !== 'pong') reject(new Error(`expected a pong, got ${type}`));
        if (way === 'break') client.destroy();
        else {
          if (way === 'complete') client.send({ id: '1', type: 'complete' });
          client.close();
        }
      },
      ended: (ending) => {
        if (ending === 'refused') reject(new Error('expected to be let in, was refused'));
        else resolve();
      },
    });
  });
}
