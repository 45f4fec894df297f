import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { UnfinishedMessages } from '../../../../src/transports/websocket/unfinished-messages.ts';
import { ownBytes } from '../../../../src/support/byte-budget.ts';

/** Connections that note why they are closed. */
function setUp(t: TestContext, bytes: number, names: string) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const source = ownBytes(bytes);
  const closed: string[] = [];
  const terminated: string[] = [];
  const readers = [...names].map((name) => ({
    open: true,
    end(this: { open: boolean }, { label }: { label: string }): void {
      this.open = false;
      closed.push(`${name} ${label}`);
    },
    terminate: () => void terminated.push(name),
  }));
  return { source, unfinished: new UnfinishedMessages(source), readers, closed, terminated };
}

test('where there is no room, the client that has been at its message for longest is closed', (t) => {
  const { source, unfinished, readers, closed, terminated } = setUp(t, 100, 'abc');
  for (const reader of readers) unfinished.note(reader, 30);
  assert.deepEqual([closed, source.held], [[], 90]);
  for (const reader of readers.slice(2)) unfinished.note(reader, 50);
  assert.deepEqual([closed, source.held], [['a unfinished'], 80]);
  t.mock.timers.tick(1_000);
  assert.deepEqual(terminated, ['a']);
  for (const reader of readers.slice(0, 1)) unfinished.note(reader, 60);
  assert.equal(source.held, 80);
});

test('a message that has come takes no room, nor does a client that has gone', (t) => {
  const { source, unfinished, readers, closed } = setUp(t, 100, 'ab');
  for (const reader of readers) {
    unfinished.note(reader, 80);
    unfinished.note(reader, 0);
  }
  for (const reader of readers) {
    unfinished.note(reader, 80);
    unfinished.forget(reader);
  }
  assert.deepEqual([closed, source.held], [[], 0]);
});

test('a message that is larger than the room closes the client that sends it', (t) => {
  const { source, unfinished, readers, closed } = setUp(t, 100, 'ab');
  for (const reader of readers.slice(1)) unfinished.note(reader, 101);
  assert.deepEqual([closed, source.held], [['b unfinished'], 0]);
});
