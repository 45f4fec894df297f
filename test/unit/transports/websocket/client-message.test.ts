import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseClientMessage } from '../../../../src/transports/websocket/client-message.ts';
import { DISCONNECTS } from '../../../../src/transports/connections/disconnect.ts';

const PING = { type: 'ping', payload: { é: '✓' } };

describe('parseClientMessage', () => {
  for (const isBinary of [false, true]) {
    const frame = isBinary ? 'binary' : 'text';
    it(`reads a message in a ${frame} frame`, () => {
      assert.deepEqual(parseClientMessage(Buffer.from(JSON.stringify(PING)), isBinary), PING);
    });

    it(`finds a bad message in a ${frame} frame`, () => {
      for (const text of ['', '{', '"ping"', 'null', '{"type":"next"}', '['.repeat(10_000)]) {
        assert.equal(
          parseClientMessage(Buffer.from(text), isBinary),
          DISCONNECTS.badMessage,
          text.slice(0, 20),
        );
      }
    });
  }

  it('finds a binary frame that is no text', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"type":"ping","payload":{"a":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}}'),
    ]);
    assert.equal(parseClientMessage(bytes, true), DISCONNECTS.notText);
  });
});
