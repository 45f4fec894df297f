import assert from 'node:assert/strict';
import test from 'node:test';
import { createLog } from '../../src/log.ts';

/** The error of ioredis where Redis refuses a login. */
const refusal = () =>
  Object.assign(new Error('WRONGPASS invalid username-password pair'), {
    command: { name: 'hello', args: ['3', 'AUTH', 'gateway', 'open sesame'] },
  });

/** @returns what is written of the error */
function written(err: Error): string {
  let line = '';
  createLog('info', { write: (text) => (line += text) })
    .child({ part: 'hub' })
    .error({ err }, 'failed');
  return line;
}

test('the log has message and stack of an error, and no arguments of the Redis command that failed', () => {
  const line = written(refusal());
  assert.match(line, /"message":"WRONGPASS .*"stack":"Error: WRONGPASS/);
  assert.doesNotMatch(line, /sesame/);
});

test('nor those of commands within a transaction, or of the error that caused another one', () => {
  for (const holding of [{ previousErrors: [refusal()] }, { cause: refusal() }]) {
    const line = written(Object.assign(new Error('EXECABORT'), holding));
    assert.match(line, /EXECABORT/);
    assert.doesNotMatch(line, /sesame/);
  }
});
