import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientMessage } from '../../../../src/transports/websocket/client-message.ts';
import {
  OpenOperations,
  type OperationsOwner,
} from '../../../../src/transports/websocket/open-operations.ts';
import { PodTally, ViewerTally } from '../../../../src/transports/connections/viewers.ts';
import { deferred } from '../../../helpers/deferred.ts';

interface Handed {
  readonly message: ClientMessage;
  /** graphql-ws is done with it. */
  readonly end: (error?: Error) => Promise<void>;
}

function subscribe(id: string, query = 'a'): ClientMessage {
  return { type: 'subscribe', id, payload: { query } };
}

const complete = (id: string): ClientMessage => ({ type: 'complete', id });

async function settled(outcome: Promise<Error | undefined>): Promise<void> {
  const error = await outcome;
  if (error !== undefined) throw error;
}

/** Operations of a connection, and what it hands to graphql-ws. Jobs have their turn when the test says so. */
function setUp() {
  const handed: Handed[] = [];
  const jobs: (() => void)[] = [];
  const failures: unknown[][] = [];
  const owner: OperationsOwner = {
    client: undefined,
    handOver: (message) => {
      const over = deferred<Error | undefined>();
      const end = async (error?: Error): Promise<void> => {
        over.resolve(error);
        await nextTurn();
      };
      handed.push({ message, end });
      return settled(over.promise);
    },
    inTurn: (job) => void jobs.push(job),
    failed: (...failure) => void failures.push(failure),
  };
  const tally = new PodTally();
  const open = new OpenOperations(owner, tally);
  const begun = (): Handed[] => handed.filter(({ message }) => message.type === 'subscribe');
  const runJobs = (): void => jobs.splice(0).forEach((job) => job());
  return { open, tally, handed, begun, jobs, failures, runJobs };
}

/** An operation that its client has completed, and with which graphql-ws is not done. */
function ending() {
  const parts = setUp();
  parts.open.receive(subscribe('1', 'old'));
  parts.open.receive(complete('1'));
  return parts;
}

const messagesOf = (handed: readonly Handed[]): ClientMessage[] => handed.map(({ message }) => message);

describe('OpenOperations', () => {
  it('refuses an id that is in use, and hands nothing over', () => {
    const { open, handed, tally } = setUp();
    assert.equal(open.receive(subscribe('1')), true);
    assert.equal(open.receive(subscribe('1')), false);
    assert.equal(handed.length, 1);
    assert.equal(tally.operations, 1);
  });

  it('begins an operation whose id was completed just before once graphql-ws is done with the old one', async () => {
    const { open, handed, begun, runJobs, tally } = ending();
    assert.equal(open.receive(subscribe('1', 'new')), true);
    assert.equal(open.receive(subscribe('1', 'third')), false);
    assert.deepEqual(messagesOf(handed), [subscribe('1', 'old'), complete('1')]);
    assert.equal(tally.operations, 1);
    assert.equal(open.isOver('1'), true, 'graphql-ws has the old one');
    await begun()[0]?.end();
    runJobs();
    assert.deepEqual(messagesOf(begun()), [subscribe('1', 'old'), subscribe('1', 'new')]);
    assert.equal(open.isOver('1'), false);
    assert.equal(open.receive(subscribe('1')), false);
    await begun()[1]?.end();
    assert.equal(tally.operations, 0);
    assert.equal(open.receive(subscribe('1')), true);
  });

  it('begins an operation at once whose id was completed before it was in use', () => {
    const { open, handed } = setUp();
    for (const message of [complete('1'), subscribe('1')]) open.receive(message);
    assert.equal(open.isOver('1'), false);
    assert.deepEqual(messagesOf(handed), [complete('1'), subscribe('1')]);
  });

  it('does not begin a waiting operation that is completed before, or before its turn', async () => {
    const { open, begun, runJobs, tally } = ending();
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

  it('begins the last of those that came before the turn', async () => {
    const { open, begun, jobs, runJobs } = ending();
    await begun()[0]?.end();
    open.receive(subscribe('1', 'new'));
    assert.deepEqual([begun().length, jobs.length], [1, 1]);
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
    const { open, begun, jobs, runJobs, tally } = ending();
    for (let round = 0; round < 10_000; round += 1) {
      assert.equal(open.receive(subscribe('1', String(round))), true);
      if (round < 9_999) open.receive(complete('1'));
    }
    assert.equal(tally.operations, 1);
    await begun()[0]?.end();
    assert.equal(jobs.length, 1);
    runJobs();
    assert.deepEqual(messagesOf(begun()), [subscribe('1', 'old'), subscribe('1', '9999')]);
  });

  it('does not tell the client of a failure of what it has completed: its id may be in use again', async () => {
    const { open, begun, failures } = ending();
    open.receive(subscribe('2'));
    const fault = new Error('no JSON');
    for (const { end } of begun()) await end(fault);
    assert.deepEqual(failures, [
      [fault, '1', true],
      [fault, '2', false],
    ]);
  });

  it('counts down to nothing when the connection closes, and begins nothing afterwards', async () => {
    const { open, begun, runJobs, tally } = ending();
    open.receive(subscribe('2'));
    open.receive(subscribe('1', 'new'));
    open.end();
    assert.equal(tally.operations, 0);
    for (const { end } of begun()) await end();
    runJobs();
    assert.equal(begun().length, 2);
    assert.equal(tally.operations, 0);
  });
});
