import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { upTo } from '../../../helpers/numbers.ts';
import { WaitingRequests } from '../../../../src/transports/http/waiting-requests.ts';

function waitingOf(most: number, mostOfConnection: number) {
  const reasons: string[] = [];
  const metrics = { refused: (reason: string) => void reasons.push(reason) };
  const waiting = new WaitingRequests({ most, mostOfConnection, metrics });
  /** @returns how many of these may wait */
  const enter = (connection: object, count: number): number =>
    Array.from({ length: count }, () => waiting.enter(connection)).filter((refusal) => refusal === undefined)
      .length;
  return { waiting, enter, reasons };
}

describe('requests that wait', () => {
  it('are so many of a connection, which is told to send less', () => {
    const { waiting, enter, reasons } = waitingOf(100, 3);
    const connection = {};
    assert.equal(enter(connection, 3), 3);
    const refusal = waiting.enter(connection);
    assert.deepEqual([refusal?.status, refusal?.error.extensions['code']], [429, 'TOO_MANY_OPERATIONS']);
    assert.deepEqual(reasons, ['requests_of_connection']);
    assert.equal(waiting.enter({}), undefined);
    waiting.leave(connection);
    assert.equal(enter(connection, 2), 1);
  });

  it('are so many of all connections, which are told to come again', () => {
    const { waiting, reasons } = waitingOf(3, 100);
    const connections = [{}, {}, {}];
    for (const connection of connections) assert.equal(waiting.enter(connection), undefined);
    const refusal = waiting.enter({});
    assert.deepEqual([refusal?.status, refusal?.error.extensions['code']], [503, 'POD_FULL']);
    assert.equal(refusal?.headers?.['retry-after'], '1');
    assert.deepEqual(reasons, ['requests']);
    for (const connection of connections) waiting.leave(connection);
    assert.equal(waiting.enter({}), undefined);
  });

  it('leave places for the first request of others, while fifty connections send as many as they can', () => {
    const { enter } = waitingOf(3_000, 200);
    assert.equal(enter({}, 2_000), 200);
    for (let greedy = 0; greedy < 49; greedy += 1) enter({}, 2_000);
    assert.equal(upTo(10).filter(() => enter({}, 1) === 1).length, 10);
  });

  it('leave a quarter of the places for others, while one address sends as many on as many connections as it can', () => {
    const { waiting, reasons } = waitingOf(100, 10);
    const enter = (address: string): boolean => waiting.enter({}, address) === undefined;
    assert.equal(upTo(200).filter(() => enter('203.0.113.1')).length, 75);
    assert.deepEqual([new Set(reasons), enter('203.0.113.1')], [new Set(['share_of_client']), false]);
    assert.equal(upTo(10).filter(() => enter('198.51.100.1')).length, 10);
    const connection = {};
    waiting.enter(connection, '198.51.100.1');
    waiting.leave(connection, '198.51.100.1');
    assert.equal(enter('198.51.100.1'), true);
  });
});
