import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { createLog } from '../../src/log.ts';
import { eventually } from '../helpers/eventually.ts';
import { redisAdmin, startRedis } from '../helpers/redis.ts';
import { ROOT } from '../docs/markdown.ts';
import { testNeeding } from '../helpers/services.ts';
import { event, numberIn, SIZE, TOPIC } from './history.ts';
import { CHANNEL, listen, PREFIX } from './redis-buses.ts';
import { upTo } from '../helpers/numbers.ts';

const it = testNeeding('redis-server');

const SETTINGS = 'docs/reference/settings.md';

const NOT_KEPT = 'the history of a topic can not be kept';
const NOT_READ = 'what was missed while the connection was lost can not be read';

/** The rights that the manual lists for Redis, by row: those for all topics, and those for topics with history. */
async function rights(): Promise<readonly [string[], string[]]> {
  const page = await readFile(path.join(ROOT, SETTINGS), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| Redis +\|/.test(line));
  const [all = [], history = []] = rows.map((row) => {
    const [, list = ''] = /`([^`]*)`\s*\|$/.exec(row) ?? [];
    return list.replaceAll('\\', '').replaceAll('sluice:', PREFIX).split(' ');
  });
  return [all, history];
}

/**
 * What becomes of a pod with these rights that hears events, loses its connection, and hears more.
 *
 * @param reads whether it reads history before, and so knows the present epoch
 */
async function blinkWith(t: TestContext, rules: readonly string[], { reads = false } = {}) {
  const server = await startRedis(t);
  const client = await redisAdmin(t, server);
  await client.call('ACL', 'SETUSER', 'limited', 'on', '>secret', ...rules);
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const { bus, inbox, gaps } = await listen(t, server, { user: 'limited:secret@', log });
  const publish = async (first: number, last: number): Promise<void> => {
    for (let n = first; n <= last; n += 1) {
      await eventually(async () => {
        assert.deepEqual(await bus.subscribed(TOPIC, [CHANNEL]), new Set([CHANNEL]));
        await bus.publish(TOPIC, event(n, CHANNEL));
      });
    }
    await inbox.until(last);
  };
  // Enough for lists to be cut.
  await publish(1, 2 * SIZE);
  if (reads) await bus.readHistory(TOPIC, [CHANNEL], 0, { maxBytes: 1_000_000 });
  await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await publish(2 * SIZE + 1, 2 * SIZE + 5);
  const told = (message: string): number => lines.filter((line) => line.includes(message)).length;
  return { numbers: inbox.messages.map(numberIn), gaps, told };
}

const EVERY = upTo(2 * SIZE + 5);

it('redis: the rights that the manual lists suffice for history', async (t) => {
  const { numbers, gaps, told } = await blinkWith(t, (await rights()).flat());
  assert.deepEqual(numbers, EVERY);
  assert.deepEqual(gaps, []);
  assert.deepEqual([told(NOT_KEPT), told(NOT_READ), told('refuses')], [0, 0, 0]);
});

it('redis: without the rights for history, events are published without it, gaps are told, and one line says so', async (t) => {
  const [all] = await rights();
  const { numbers, gaps, told } = await blinkWith(t, all);
  assert.deepEqual(numbers, EVERY);
  await eventually(() => assert.deepEqual([gaps, told(NOT_KEPT)], [[TOPIC], 1]));
});

/**
 * Without the last of these, history is kept until a list is to be cut, and begins anew behind that. Without `exists` it
 * begins anew with each event: a pod that knows by then is told no gap, and has missed nothing either.
 */
const SINGLE: readonly (readonly [right: string, line: string, gaps: readonly string[] | undefined])[] = [
  ['eval', NOT_KEPT, [TOPIC]],
  ['hmget', NOT_KEPT, [TOPIC]],
  ['hget', NOT_KEPT, [TOPIC]],
  ['hset', NOT_KEPT, [TOPIC]],
  ['exists', NOT_KEPT, undefined],
  ['rpush', NOT_KEPT, [TOPIC]],
  ['rpushx', NOT_KEPT, [TOPIC]],
  ['lrange', NOT_READ, [TOPIC]],
  ['lindex', NOT_READ, [TOPIC]],
  ['ltrim', NOT_KEPT, []],
];

for (const [right, line, expected] of SINGLE) {
  it(`redis: without the right to ${right} alone, events are published all the same, and a line says what is not there`, async (t) => {
    // Behind a message of an epoch that it does not know yet, a pod can't tell whether it listens to the master.
    const reads = expected?.length === 0;
    const { numbers, gaps, told } = await blinkWith(t, ['~*', '&*', '+@all', `-${right}`], { reads });
    assert.deepEqual(numbers, EVERY);
    await eventually(() => assert.deepEqual([gaps, told(line)], [expected ?? gaps, 1]));
  });
}

test('redis: each right for history in the manual is needed', async () => {
  const [, history] = await rights();
  assert.deepEqual(
    history,
    SINGLE.map(([right]) => `+${right}`),
  );
});
