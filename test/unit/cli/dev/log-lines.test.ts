import assert from 'node:assert/strict';
import test from 'node:test';
import { logLine } from '../../../../src/cli/dev/log-lines.ts';
import { createLog } from '../../../../src/log.ts';

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = '';
  write(createLog('info', { write: (line) => void (text += logLine(line)) }));
  return text.replace(/^\d\d:\d\d:\d\d /, '');
}

test('a line of the log has its level, part, message and fields', () => {
  const text = logged((log) => log.child({ part: 'ingest' }).warn({ topic: 'bids', at: { p: 1 } }, 'not so'));
  assert.equal(text, 'warn  ingest: not so topic=bids at={"p":1}\n');
});

test('an error has its stack below, in which nothing controls the terminal', () => {
  const text = logged((log) => log.error({ err: new Error('a\u001b[2J') }, 'failed'));
  assert.match(text, /^error failed\n {4}Error: a\\u001b\[2J\n {4}at /);
});

test('a message of several lines keeps them', () => {
  assert.equal(
    logged((log) => log.warn('a.graphql:1:1: warning\n    write ID!')),
    'warn  a.graphql:1:1: warning\n    write ID!\n',
  );
});
