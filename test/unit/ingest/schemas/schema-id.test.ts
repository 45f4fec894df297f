import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFrame } from '../../../../src/ingest/schemas/schema-id.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const GUID = '00112233445566778899aabbccddeeff';
const UUID = '00112233-4455-6677-8899-aabbccddeeff';

describe('the schema of a message', () => {
  const ROWS = [
    ['Confluent’s id', '00 00000005 6162', {}, false, 'id', '5', undefined],
    ['the largest id', '00 7fffffff 6162', {}, false, 'id', '2147483647', undefined],
    ['Protobuf’s first message', '00 00000005 00 6162', {}, true, 'id', '5', [0]],
    ['Protobuf’s nested message', '00 00000005 04 02 0a 6162', {}, true, 'id', '5', [1, 5]],
    ['a UUID before the value', `01 ${GUID} 6162`, {}, false, 'guid', UUID, undefined],
    ['a UUID in the header', '6162', { __value_schema_id: hex(`01${GUID}`) }, false, 'guid', UUID, undefined],
    [
      'a UUID in the header, with a message',
      '6162',
      { __value_schema_id: hex(`01${GUID} 02 04`) },
      true,
      'guid',
      UUID,
      [2],
    ],
    [
      'the last of two headers',
      '6162',
      { __value_schema_id: [hex('0000000001'), hex('0000000002')] },
      false,
      'id',
      '2',
      undefined,
    ],
    ['Apicurio’s id of eight bytes', '00 0000000000000007 6162', {}, false, 'global', '7', undefined],
    [
      'Apicurio’s message by name',
      '00 0000000000000007 07 0a05 4f72646572 6162',
      {},
      true,
      'global',
      '7',
      'Order',
    ],
    [
      'Apicurio’s global id in the header',
      '6162',
      { 'apicurio.value.globalId': hex('0000000000000009') },
      false,
      'global',
      '9',
      undefined,
    ],
    [
      'Apicurio’s content id and type in the header',
      '6162',
      { 'apicurio.value.contentId': hex('0000000000000009'), 'apicurio.protobuf.type': Buffer.from('Order') },
      true,
      'id',
      '9',
      'Order',
    ],
  ] as const;
  for (const [what, bytes, headers, isProtobuf, kind, id, message] of ROWS) {
    it(`is ${what}`, () => {
      const framed = readFrame(hex(bytes), headers as never, 'value', isProtobuf);
      assert.deepEqual(framed, { kind, id, message, payload: Buffer.from('ab') });
    });
  }

  it('of a key is in headers of its own', () => {
    const headers = { __key_schema_id: hex('0000000003'), __value_schema_id: hex('0000000004') };
    assert.equal(readFrame(hex('61'), headers, 'key', false).id, '3');
  });

  for (const [what, bytes, isProtobuf] of [
    ['nothing', '', false],
    ['JSON', Buffer.from('{"a":1}').toString('hex'), false],
    ['half an id', '00 0000', false],
    ['a negative id', '00 ffffffff 6162', false],
    ['a negative id of eight bytes', '00 00000000 ffffffff 6162', true],
    ['half a UUID', '01 0011', false],
    ['an id without a message', '00 00000005', true],
    ['a million indexes', '00 00000005 80897a', true],
    ['fewer indexes than it says', '00 00000005 04 02', true],
    ['a name longer than the bytes', '00 0000000000000007 7f 0a', true],
  ] as const) {
    it(`is not found in ${what}`, () => {
      assert.throws(() => readFrame(hex(bytes), undefined, 'value', isProtobuf), { reason: 'malformed' });
    });
  }

  it('has the name of a message of at most 1,000 bytes', () => {
    const id = { 'apicurio.value.contentId': hex('0000000000000009') };
    const named = (length: number) =>
      readFrame(hex('61'), { ...id, 'apicurio.protobuf.type': Buffer.alloc(length, 'x') }, 'value', true);
    assert.equal(String(named(1_000).message).length, 1_000);
    assert.throws(() => named(1_001), { reason: 'malformed' });
  });
});
