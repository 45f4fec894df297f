import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DISCONNECTS } from '../../../../src/transports/connections/disconnect.ts';
import { LegacySubprotocol } from '../../../../src/transports/websocket/legacy-subprotocol.ts';

const ACK = '{"type":"connection_ack"}';
const payload = { query: 'subscription { a }' };

const bytes = (message: unknown): Buffer => Buffer.from(JSON.stringify(message));

function setUp({ acknowledged = true } = {}) {
  const subprotocol = new LegacySubprotocol();
  const receive = (message: unknown): unknown => subprotocol.received(bytes(message), false);
  if (acknowledged) {
    assert.deepEqual(subprotocol.sent(ACK), [ACK, '{"type":"ka"}']);
    assert.deepEqual(subprotocol.released(), []);
  }
  return { subprotocol, receive };
}

const sent = (subprotocol: LegacySubprotocol, message: unknown): unknown[] =>
  subprotocol.sent(JSON.stringify(message)).map((text) => JSON.parse(text) as unknown);

describe('the legacy subprotocol', () => {
  it('keeps a connection alive from the acknowledgement on, as some clients take the first message for it', () => {
    const { subprotocol } = setUp({ acknowledged: false });
    assert.equal(subprotocol.heartbeat, undefined);
    subprotocol.sent(ACK);
    assert.equal(subprotocol.heartbeat, '{"type":"ka"}');
  });

  it('holds operations until the connection is acknowledged, and begins them in order', () => {
    const { subprotocol, receive } = setUp({ acknowledged: false });
    const init = { type: 'connection_init', payload: { token: 't' } };
    assert.deepEqual(receive(init), [init]);
    assert.deepEqual(receive({ type: 'start', id: '1', payload }), []);
    assert.deepEqual(receive({ type: 'start', id: '2', payload }), []);
    assert.deepEqual(receive({ type: 'stop', id: '1' }), []);
    assert.deepEqual(subprotocol.released(), []);
    subprotocol.sent(ACK);
    assert.deepEqual(subprotocol.released(), [
      { type: 'subscribe', id: '1', payload },
      { type: 'subscribe', id: '2', payload },
      { type: 'complete', id: '1' },
    ]);
    assert.deepEqual(subprotocol.released(), []);
    assert.deepEqual(receive({ type: 'start', id: '3', payload }), [{ type: 'subscribe', id: '3', payload }]);
  });

  it('holds no more operations than it may', () => {
    const { receive } = setUp({ acknowledged: false });
    for (let id = 0; id < 100; id += 1)
      assert.deepEqual(receive({ type: 'start', id: `${id}`, payload }), []);
    assert.equal(receive({ type: 'start', id: 'more', payload }), DISCONNECTS.tooManyMessages);
  });

  it('has an operation take the place of one with its id', () => {
    const { receive } = setUp();
    receive({ type: 'start', id: '1', payload });
    assert.deepEqual(receive({ type: 'start', id: '1', payload }), [
      { type: 'complete', id: '1' },
      { type: 'subscribe', id: '1', payload },
    ]);
  });

  it('passes over the end of an operation that is over', () => {
    const { subprotocol, receive } = setUp();
    receive({ type: 'start', id: '1', payload });
    sent(subprotocol, { type: 'complete', id: '1' });
    assert.deepEqual(receive({ type: 'stop', id: '1' }), []);
    assert.deepEqual(receive({ type: 'stop', id: 'never begun' }), []);
  });

  it('tells results and errors in its own words', () => {
    const { subprotocol } = setUp();
    const errors = [{ message: 'no such field' }, { message: 'nor that' }];
    for (const [message, told] of [
      [
        { type: 'next', payload: { data: {} } },
        { type: 'data', payload: { data: {} } },
      ],
      [
        { type: 'error', payload: errors },
        { type: 'error', payload: { message: 'no such field', errors } },
      ],
      [{ type: 'complete' }, { type: 'complete' }],
    ]) {
      assert.deepEqual(sent(subprotocol, { id: '1', ...message }), [{ id: '1', ...told }]);
    }
  });

  it('has neither ping nor pong, and takes neither', () => {
    const { subprotocol, receive } = setUp();
    assert.deepEqual(sent(subprotocol, { type: 'ping', payload: {} }), []);
    assert.deepEqual(sent(subprotocol, { type: 'pong' }), []);
    assert.equal(receive({ type: 'ping' }), DISCONNECTS.badMessage);
    assert.equal(receive({ type: 'subscribe', id: '1', payload }), DISCONNECTS.badMessage);
  });

  it('tells a client that is refused why, before the connection is closed', () => {
    const reason = 'Forbidden';
    const [told = '', ...others] = setUp({ acknowledged: false }).subprotocol.closing({ reason });
    assert.deepEqual(JSON.parse(told), { type: 'connection_error', payload: { message: reason } });
    assert.deepEqual(others, []);
    assert.deepEqual(setUp().subprotocol.closing({ reason }), []);
  });

  it('closes the connection of a client that asks for it', () => {
    assert.equal(setUp().receive({ type: 'connection_terminate' }), DISCONNECTS.asked);
  });
});
