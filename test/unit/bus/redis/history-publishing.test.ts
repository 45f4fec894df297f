import assert from 'node:assert/strict';
import test from 'node:test';
import type { Command } from '../../../../src/bus/redis/connection.ts';
import { HistoryPublishing } from '../../../../src/bus/redis/history-publishing.ts';
import { keptHistory } from './topic-history-parts.ts';

/**
 * @param replies to scripts
 * @param held what Redis replies to GET: the number of the last question that it was asked
 */
function publishing(replies: (readonly unknown[])[], held: string | null = null) {
  const { history, sent } = keptHistory(() => ({ value: held }));
  const scripts: Command[] = [];
  const versions = {
    runScript: async (_topic: string, script: (version: string) => Command) => {
      scripts.push(script('v'));
      return replies.shift();
    },
  };
  return {
    history,
    sent,
    scripts,
    publishing: new HistoryPublishing(new Map([['kept', history]]), versions),
  };
}

for (const [what, flags, held, isLost] of [
  ['that it was not asked', [1, 0], null, true],
  ['that it was not asked last', [1, 0], '0', true],
  ['the last question', [1, 0], '1', false],
  ['nothing, where nothing was passed over', [1, 1], null, false],
] as const) {
  test(`of what was passed over, a server tells by ${what}: it ${isLost ? 'is another' : 'is the one that was asked'}`, async () => {
    const { publishing: published, history, sent } = publishing([flags], held);
    const wanted = await published.wanted('kept', ['a', 'b']);
    assert.deepEqual([...(wanted ?? [])], flags[1] === 1 ? ['a', 'b'] : ['a']);
    assert.equal(await history.isLost(), isLost);
    assert.equal(sent.length, flags[1] === 1 ? 0 : 1);
  });
}

test('what was not published, since the epoch had ended, is published in the next one, and at last in whichever there is', async () => {
  const event = { channel: 'a', payload: '{}', source: { topicId: 'id', partition: 0, offset: 7 } };
  const ended = ['d', 'e', 'f'].map((epoch) => [-1, epoch]);
  const { publishing: published, history, scripts } = publishing([...ended, [0, 'g'], [0, 'g']]);
  for (let round = 0; round < 2; round += 1) assert.equal(await published.publish('kept', [event]), true);
  const epochs = scripts.map((script) => script[script.indexOf('["kept"]') + 1]);
  assert.deepEqual(epochs, ['', 'd', 'e', '*', 'g']);
  assert.equal(history.epoch, 'g');
});
