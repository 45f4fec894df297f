import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import test from 'node:test';
import type { Redis } from 'ioredis';
import { logOutages } from '../../../../src/bus/redis/redis-client.ts';
import { createLog } from '../../../../src/log.ts';

test('an outage of which attempts fail for two reasons by turns has a line for each, and the next outage has its own', () => {
  const redis = new EventEmitter();
  const lines: string[] = [];
  const write = (line: string): void => {
    const { msg, reason } = JSON.parse(line) as { msg: string; reason?: string };
    lines.push(reason === undefined ? msg : `${msg}: ${reason}`);
  };
  logOutages(redis as unknown as Redis, createLog('info', { write }));
  const fail = (reason: string) => redis.emit('error', new Error(reason));
  for (let attempt = 0; attempt < 3; attempt += 1) {
    fail('write ECONNRESET');
    fail('read ECONNRESET');
  }
  redis.emit('ready');
  fail('write ECONNRESET');
  fail('NOAUTH HELLO must be called with the client already authenticated');
  assert.deepEqual(lines, [
    'Redis is out of reach: write ECONNRESET',
    'Redis is out of reach: read ECONNRESET',
    'connected to Redis',
    'Redis is out of reach: write ECONNRESET',
    'Redis is out of reach: expected a password in REDIS_URL, REDIS_PASSWORD or REDIS_PASSWORD_FILE, got none, which this Redis refuses',
  ]);
});
