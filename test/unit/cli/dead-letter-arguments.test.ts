import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../src/cli/command.ts';
import { deadLetterCommand } from '../../../src/cli/dead-letter-arguments.ts';

const parse = (text: string) => deadLetterCommand(text.split(' ').filter((word) => word !== ''));

const ANY = { topic: undefined, reason: undefined, since: undefined, until: undefined, key: undefined };

test('list wants no filter', () => {
  const usual = { filter: ANY, limit: Infinity, from: new Map(), json: false, dryRun: false };
  assert.deepEqual(parse('list'), { action: 'list', ...usual });
});

test('filters are read, times as UTC or with their zone', () => {
  const times = '--since 2026-05-01 --until 2026-05-01T02:00+02:00';
  const rest = '--topic bids --reason empty --key 4 --limit 3 --from 0/12,3/0 --dry-run --json';
  const may = Date.UTC(2026, 4, 1);
  const from = new Map([[0, 12]]).set(3, 0);
  assert.deepEqual(parse(`replay ${times} ${rest}`), {
    action: 'replay',
    filter: { topic: 'bids', reason: 'empty', since: may, until: may, key: '4' },
    limit: 3,
    from,
    json: true,
    dryRun: true,
  });
});

test('replay wants a filter, or --all; where to begin is no filter', () => {
  for (const refused of ['replay', 'replay --dry-run', 'replay --from 0/12']) {
    assert.throws(() => parse(refused), /expected a filter, or --all .*, got neither/, refused);
  }
  for (const taken of ['replay --all', 'replay --limit 1', 'replay --key 4']) assert.ok(parse(taken), taken);
});

test('what can not be understood is refused, with what was expected and what came', () => {
  for (const [args, message] of [
    ['', /expected 'list' or 'replay', got ''/],
    ['lst', /got 'lst'/],
    ['list all', /got 'list all'/],
    ['list --all', /--all: expected with replay, got list/],
    ['list --dry-run', /--dry-run: expected with replay/],
    ['list --since yesterday', /--since: expected a time like .*, got yesterday/],
    ['list --since 2026-05-01T10:00', /--since: expected a time/],
    ['list --until 2026-13-01', /--until: expected a time/],
    ['list --limit 0', /--limit: expected a whole number from 1, got 0/],
    ['list --limit 1e3', /--limit/],
    ['list --from 12', /--from: expected partition\/offset/],
    ['list --from 0/1,0/2', /once for each partition/],
  ] as const) {
    const isTold = (thrown: unknown) => thrown instanceof UsageError && message.test(thrown.message);
    assert.throws(() => parse(args), isTold, args);
  }
});
