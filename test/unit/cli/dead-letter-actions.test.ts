import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listLetters, replayLetters } from '../../../src/cli/dead-letter-actions.ts';
import { deadLetterCommand } from '../../../src/cli/dead-letter-arguments.ts';
import { record } from '../ingest/parts.ts';
import { FakeDeadLetterKafka, letterRecord, reader } from '../ingest/dead-letters/parts.ts';

const RECORDS = [
  letterRecord({ offset: 0, origin: 'bids/0/3' }),
  letterRecord({ offset: 1, origin: 'asks/0/4', reason: 'empty', value: '' }),
  letterRecord({ offset: 2, origin: 'bids/0/5', value: null }),
  letterRecord({ offset: 3, origin: 'bids/0/6' }),
  record('{}', { topic: 'dead', partition: 0, offset: 4 }),
];

function setUp(args: string, topic = 'dead') {
  const command = deadLetterCommand(args.split(' '));
  assert.ok(command);
  const kafka = new FakeDeadLetterKafka(reader(0, RECORDS));
  const printed: string[] = [];
  const told: string[] = [];
  const stopping = new AbortController();
  const options = {
    command,
    kafka,
    topic,
    print: (line: string) => void printed.push(line),
    tell: (line: string) => void told.push(line),
    stopping: stopping.signal,
  };
  const origins = () => printed.map((line) => line.split('  ')[0]);
  return { options, kafka, printed, told, origins, stopping };
}

test('list prints the letters that are meant, and tells how many there are', async () => {
  const { options, kafka, told, origins } = setUp('list --topic bids');
  assert.equal(await listLetters(options), 0);
  assert.deepEqual(origins(), ['bids/0/3', 'bids/0/5', 'bids/0/6']);
  assert.deepEqual(told, ['3 of 4 dead letters; 1 message without the headers of a dead letter']);
  assert.equal(kafka.isClosed, true);
});

test('list ends at the limit, begins where it is told to, and prints objects with --json', async () => {
  const limited = setUp('list --limit 1');
  assert.equal(await listLetters(limited.options), 0);
  assert.deepEqual([limited.origins(), limited.told], [['bids/0/3'], ['1 of 1 dead letter']]);
  const { options, kafka, printed } = setUp('list --limit 1 --from 0/12 --json');
  await listLetters(options);
  assert.deepEqual(kafka.opened, [['dead', new Map([[0, 12]])]]);
  assert.equal((JSON.parse(printed[0] ?? '') as { reason: string }).reason, 'not_json');
});

test('a list that is stopped says so, and fails', async () => {
  const { options, told, stopping, printed } = setUp('list');
  stopping.abort(new Error('stopped by SIGINT'));
  assert.equal(await listLetters(options), 1);
  assert.deepEqual(printed, []);
  assert.match(told.at(-1) ?? '', /the list ended early: stopped by SIGINT/);
});

test('replay prints what it has sent, and tells the rest', async () => {
  const { options, kafka, told, origins } = setUp('replay --topic bids');
  assert.equal(await replayLetters(options), 0);
  assert.deepEqual(origins(), ['bids/0/3', 'bids/0/6']);
  assert.equal(kafka.sink.batches.flat().length, 2);
  assert.equal(kafka.sink.isStopped, true);
  assert.deepEqual(told, [
    'replayed 2 of 4 dead letters; passed over 1 without a value; 1 message without the headers of a dead letter',
    'go on behind them with --from 0/5',
  ]);
});

test('replay --dry-run sends nothing', async () => {
  const { options, kafka, told, origins } = setUp('replay --all --dry-run');
  assert.equal(await replayLetters(options), 0);
  assert.deepEqual(origins(), ['bids/0/3', 'asks/0/4', 'bids/0/6']);
  assert.deepEqual(kafka.sink.batches, []);
  assert.match(told[0] ?? '', /^would replay 3 of 4 dead letters/);
});

test('a replay that fails says how many were sent and where to go on', async () => {
  const { options, kafka, told, printed } = setUp('replay --all');
  kafka.sink.failing = () => true;
  assert.equal(await replayLetters(options), 1);
  assert.deepEqual(printed, []);
  assert.deepEqual(told, [
    'replayed 0 of 4 dead letters; passed over 1 without a value; 1 message without the headers of a dead letter',
    'sluice: the replay ended early: the broker is away',
    'up to 3 more may have been sent, and would be sent again',
    'go on from the beginning',
  ]);
  assert.equal(kafka.isClosed, true);
});

test('a dead-letter topic that is missing, or may not be read, is told without a stack', async () => {
  await assert.rejects(listLetters(setUp('list', 'daed').options), {
    code: 'BAD_SETTINGS',
    message: /^DEAD_LETTER_TOPIC: expected a topic that exists .*, got daed$/,
  });
  const { options, kafka } = setUp('list');
  kafka.open = () => Promise.reject(new Error('not authorized'));
  await assert.rejects(listLetters(options), { code: 'KAFKA_FAILED', message: /dead .*: not authorized/ });
});
