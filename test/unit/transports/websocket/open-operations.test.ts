import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientMessage } from '../../../../src/transports/websocket/client-message.ts';
import {
  OpenOperations,
  type OperationsOwner,
} from '../../../../src/transports/websocket/open-operations.ts';
import { Tally, ViewerTally } from '../../../../src/transports/connections/viewers.ts';
import { deferred } from '../../server/serve.ts';

interface Handed {
  readonly message: ClientMessage;
  /** graphql-ws is done with it. */
  readonly end: (error?: Error) => Promise<void>;
}

function subscribe(id: string, query = 'a'): ClientMessage {
  return { type: 'subscribe', id, payload: { query } };
}

const complete = (id: string): ClientMessage => ({ type: 'complete', id });

async function settled(ending: Promise<Error | undefined>): Promise<void> {
  const error = await ending;
  if (error !== undefined) throw error;
}

/** Operations of a connection, and what it hands to graphql-ws. Jobs have their turn when the test says so. */
function setUp() {
  const handed: Handed[] = [];
  const jobs: (() => void)[] = [];
  const failures: unknown[][] = [];
  const owner: OperationsOwner = {
    handOver: (message) => {
      const ending = deferred<Error | undefined>();
      handed.push({
        message,
        end: async (error) => {
          ending.resolve(error);
          await nextTurn();
        },
      });
      return settled(ending.promise);
    },
    inTurn: (job) => void jobs.push(job),
    failed: (...failure) => void failures.push(failure),
  };
  const tally = new Tally();
  const open = new OpenOperations(owner, tally);
  const begun = (): Handed[] => handed.filter(({ message }) => message.type === 'subscribe');
  const runJobs = (): void => jobs.splice(0).forEach((job) => job());
  return { open, tally, handed, begun, jobs, failures, runJobs };
}

describe('OpenOperations', () => {
  it('refuses an id that is in use, and hands nothing over', () => {
    const { open, handed, tally } = setUp();
    assert.equal(open.receive(subscribe('1')), true);
    assert.equal(open.receive(subscribe('1')), false);
    assert.equal(handed.length, 1);
    assert.equal(tally.operations, 1);
  });

  it('begins an operation whose id was completed just before once graphql-ws is done with the old one', async () => {
    const { open, handed, begun, runJobs, tally } = setUp();
    open.receive(subscribe('1', 'old'));
    open.receive(complete('1'));
    assert.equal(open.receive(subscribe('1', 'new')), true);
    assert.equal(open.receive(subscribe('1', 'third')), false);
    assert.deepEqual(
      handed.map(({ message }) => message),
      [subscribe('1', 'old'), complete('1')],
    );
    assert.equal(tally.operations, 1);
    await begun()[0]?.end();
    runJobs();
    assert.deepEqual(begun()[1]?.message, subscribe('1', 'new'));
    assert.equal(open.receive(subscribe('1')), false);
    await begun()[1]?.end();
    assert.equal(tally.operations, 0);
    assert.equal(open.receive(subscribe('1')), true);
  });

  it('does not begin a waiting operation that is completed before, or before its turn', async () => {
    const { open, begun, runJobs, tally } = setUp();
    open.receive(subscribe('1', 'old'));
    open.receive(complete('1'));
    open.receive(subscribe('1', 'never'));
    open.receive(complete('1'));
    open.receive(subscribe('1', 'neither'));
    await begun()[0]?.end();
    open.receive(complete('1'));
    assert.equal(tally.operations, 0);
    runJobs();
    assert.equal(begun().length, 1);
    open.receive(subscribe('1', 'later'));
    assert.deepEqual(begun()[1]?.message, subscribe('1', 'later'));
  });

  it('knows an operation as over until the next one of its id begins', async () => {
    const { open, begun, runJobs } = setUp();
    open.receive(subscribe('1'));
    assert.equal(open.isOver('1'), false);
    open.receive(complete('1'));
    assert.equal(open.isOver('1'), true);
    open.receive(subscribe('1', 'new'));
    assert.equal(open.isOver('1'), true, 'graphql-ws has the old one');
    await begun()[0]?.end();
    runJobs();
    assert.equal(open.isOver('1'), false);
  });

  it('begins the last of those that came before the turn', async () => {
    const { open, begun, jobs, runJobs } = setUp();
    open.receive(subscribe('1', 'old'));
    open.receive(complete('1'));
    await begun()[0]?.end();
    open.receive(subscribe('1', 'new'));
    assert.equal(begun().length, 1);
    assert.equal(jobs.length, 1);
    runJobs();
    assert.deepEqual(begun()[1]?.message, subscribe('1', 'new'));
  });

  it('counts neither what the client has completed nor what is refused, though graphql-ws is not done with it', () => {
    const { open, tally } = setUp();
    const viewer = new ViewerTally('v');
    open.viewer = viewer;
    for (const id of ['1', '2', '3']) open.receive(subscribe(id));
    assert.deepEqual([open.size, tally.operations, viewer.operations], [3, 3, 3]);
    open.receive(complete('1'));
    open.over('2');
    assert.deepEqual([open.size, tally.operations, viewer.operations], [1, 1, 1]);
    open.receive(complete('1'));
    open.receive(complete('unknown'));
    assert.deepEqual([open.size, tally.operations, viewer.operations], [1, 1, 1]);
  });

  it('holds at most one message of an id, however often it is completed and used again', async () => {
    const { open, begun, jobs, runJobs, tally } = setUp();
    open.receive(subscribe('1'));
    for (let round = 0; round < 10_000; round += 1) {
      open.receive(complete('1'));
      assert.equal(open.receive(subscribe('1', String(round))), true);
    }
    assert.equal(tally.operations, 1);
    await begun()[0]?.end();
    assert.equal(jobs.length, 1);
    runJobs();
    assert.deepEqual(
      begun().map(({ message }) => message),
      [subscribe('1'), subscribe('1', '9999')],
    );
  });

  it('does not tell the client of a failure of what it has completed: its id may be in use again', async () => {
    const { open, begun, failures } = setUp();
    open.receive(subscribe('1'));
    open.receive(subscribe('2'));
    open.receive(complete('1'));
    const fault = new Error('no JSON');
    for (const { end } of begun()) await end(fault);
    assert.deepEqual(failures, [
      [fault, '1', true],
      [fault, '2', false],
    ]);
  });

  it('counts down to nothing when the connection closes, and begins nothing afterwards', async () => {
    const { open, begun, runJobs, tally } = setUp();
    open.receive(subscribe('1'));
    open.receive(subscribe('2'));
    open.receive(complete('1'));
    open.receive(subscribe('1', 'new'));
    open.end();
    assert.equal(tally.operations, 0);
    for (const { end } of begun()) await end();
    runJobs();
    assert.equal(begun().length, 2);
    assert.equal(tally.operations, 0);
  });
});
