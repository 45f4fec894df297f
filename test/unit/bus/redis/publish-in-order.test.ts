import assert from 'node:assert/strict';
import test from 'node:test';
import type { Command, Reply } from '../../../../src/bus/redis/connection.ts';
import { publishInOrder } from '../../../../src/bus/redis/publish-in-order.ts';

const BATCH = [
  ['a', '1'],
  ['b', '2'],
  ['a', '3'],
  ['c', '4'],
  ['a', '5'],
].map(([channel = '', payload = '']) => ({ channel, payload }));

/** Redis that replies with a payload's number, and refuses some payloads. */
async function publish(refused: readonly string[]) {
  const sent: string[][] = [];
  const send = async (commands: readonly Command[]): Promise<readonly Reply[]> => {
    sent.push(commands.map(([, , payload = '']) => payload));
    return commands.map(([, , payload = '']) =>
      refused.includes(payload) ? { error: new Error(`refused ${payload}`) } : { value: Number(payload) },
    );
  };
  const replies = await publishInOrder({ send }, BATCH);
  const told = replies.map((reply) => reply && ('error' in reply ? 'refused' : reply.value));
  return { sent, told };
}

test('each channel occurs once in what is sent together', async () => {
  assert.deepEqual(await publish([]), { sent: [['1', '2', '4'], ['3'], ['5']], told: [1, 2, 3, 4, 5] });
});

test('behind a refusal nothing more is sent', async () => {
  assert.deepEqual(await publish(['2']), {
    sent: [['1', '2', '4']],
    told: [1, 'refused', undefined, 4, undefined],
  });
  assert.deepEqual(await publish(['3']), {
    sent: [['1', '2', '4'], ['3']],
    told: [1, 2, 'refused', 4, undefined],
  });
});
