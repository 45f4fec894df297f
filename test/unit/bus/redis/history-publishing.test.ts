import assert from 'node:assert/strict';
import test from 'node:test';
import type { Command, Reply } from '../../../../src/bus/redis/connection.ts';
import { HistoryPublishing } from '../../../../src/bus/redis/history-publishing.ts';
import { BusNames } from '../../../../src/bus/redis/names.ts';
import { TopicHistory } from '../../../../src/bus/redis/topic-history.ts';
import { createLog } from '../../../../src/log.ts';
import { stillClock } from '../../support/still-clock.ts';

/** @param held what Redis replies to GET: the number of the last question that it was asked */
function publishing(flags: readonly number[], held: string | null) {
  const sent: Command[] = [];
  const history = new TopicHistory({
    topic: 'kept',
    settings: { size: 10, ttlMs: 120_000, keepsAll: false },
    connection: {
      send: async (commands) => {
        sent.push(...commands);
        return commands.map((): Reply => ({ value: held }));
      },
    },
    names: new BusNames(''),
    stands: async () => undefined,
    heard: () => undefined,
    wasRead: () => undefined,
    clock: stillClock().clock,
    log: createLog('silent'),
  });
  const versions = { runScript: async () => flags };
  return { history, sent, publishing: new HistoryPublishing(new Map([['kept', history]]), versions) };
}

for (const [what, flags, held, isLost] of [
  ['that it was not asked', [1, 0], null, true],
  ['that it was not asked last', [1, 0], '0', true],
  ['the last question', [1, 0], '1', false],
  ['nothing, where nothing was passed over', [1, 1], null, false],
] as const) {
  test(`of what was passed over, a server tells by ${what}: it ${isLost ? 'is another' : 'is the one that was asked'}`, async () => {
    const { publishing: published, history, sent } = publishing(flags, held);
    const wanted = await published.wanted('kept', ['a', 'b']);
    assert.deepEqual([...(wanted ?? [])], flags[1] === 1 ? ['a', 'b'] : ['a']);
    assert.equal(await history.isLost(), isLost);
    assert.equal(sent.length, flags[1] === 1 ? 0 : 1);
  });
}
