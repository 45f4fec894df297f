import assert from 'node:assert/strict';
import test from 'node:test';
import { isElsewhere, sharded } from '../../../../../src/bus/redis/cluster/sharded.ts';
import { APPEND, INTEREST, JOIN } from '../../../../../src/bus/redis/history-scripts.ts';
import { PUBLISH_ON_ALL } from '../../../../../src/bus/redis/publish-commands.ts';

test('a cluster publishes to, and counts, subscribers of a slot; other commands stay', () => {
  assert.deepEqual(sharded(['PUBLISH', 'channel', 'text']), ['SPUBLISH', 'channel', 'text']);
  assert.deepEqual(sharded(['PUBSUB', 'NUMSUB', 'a', 'b']), ['PUBSUB', 'SHARDNUMSUB', 'a', 'b']);
  assert.deepEqual(sharded(['SET', 'PUBLISH', 'NUMSUB']), ['SET', 'PUBLISH', 'NUMSUB']);
});

test('scripts publish and count likewise', () => {
  for (const script of [APPEND, INTEREST, JOIN, PUBLISH_ON_ALL]) {
    const [name, text = '', ...others] = sharded(['EVAL', script, '1', 'key', "'PUBLISH'"]);
    assert.deepEqual([name, ...others], ['EVAL', '1', 'key', "'PUBLISH'"]);
    assert.doesNotMatch(text, /'PUBLISH'|'NUMSUB'/);
  }
  assert.match(String(sharded(['EVAL', APPEND])[1]), /'SPUBLISH'/);
  assert.match(String(sharded(['EVAL', INTEREST])[1]), /'SHARDNUMSUB'/);
});

test('a slot that is elsewhere, moves, or is not served is told from what a node refuses', () => {
  for (const reason of ['MOVED 1 a:1', 'ASK 1 a:1', 'TRYAGAIN x', 'CLUSTERDOWN x']) {
    assert.ok(isElsewhere(reason), reason);
  }
  for (const reason of ['NOPERM x', 'BUSY x', 'ERR unknown command', 'READONLY x']) {
    assert.ok(!isElsewhere(reason), reason);
  }
});
