import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_HEADER, parseProxyHeader } from '../../../src/server/proxy-header.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';

function v2(command: number, family: number, rest: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(rest.length);
  return Buffer.concat([Buffer.from(SIGNATURE, 'hex'), Buffer.from([command, family]), length, rest]);
}

const TCP4 = v2(0x21, 0x11, Buffer.from([198, 51, 100, 1, 10, 0, 0, 1, 0, 80, 15, 160]));
const TCP6 = v2(
  0x21,
  0x21,
  Buffer.concat([Buffer.from('20010db8000100020003000400050006', 'hex'), Buffer.alloc(20)]),
);

const HEADERS: [string, Buffer, string | undefined][] = [
  ['v1, IPv4', Buffer.from('PROXY TCP4 198.51.100.1 10.0.0.1 56324 443\r\n'), '198.51.100.1'],
  ['v1, IPv6', Buffer.from('PROXY TCP6 2001:db8::1 ::1 1 65535\r\n'), '2001:db8::1'],
  ['v1, unknown', Buffer.from('PROXY UNKNOWN\r\n'), undefined],
  ['v1, unknown with addresses', Buffer.from('PROXY UNKNOWN ffff::1 ffff::1 65535 65535\r\n'), undefined],
  ['v2, IPv4', TCP4, '198.51.100.1'],
  [
    'v2, IPv4 with more than addresses',
    v2(0x21, 0x11, Buffer.concat([TCP4.subarray(16), Buffer.alloc(2_000)])),
    '198.51.100.1',
  ],
  ['v2, IPv6', TCP6, '2001:db8:1:2:3:4:5:6'],
  ['v2, local', v2(0x20, 0x00, Buffer.alloc(0)), undefined],
  ['v2, local with addresses', v2(0x20, 0x11, TCP4.subarray(16)), undefined],
  ['v2, a Unix socket', v2(0x21, 0x31, Buffer.alloc(216)), undefined],
];

const NO_HEADERS: [string, Buffer][] = [
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['the other family', Buffer.from('PROXY TCP4 2001:db8::1 ::1 1 2\r\n')],
  ['no address', Buffer.from('PROXY TCP4 198.51.100.256 10.0.0.1 1 2\r\n')],
  ['a port too large', Buffer.from('PROXY TCP4 198.51.100.1 10.0.0.1 1 65536\r\n')],
  ['a port less', Buffer.from('PROXY TCP4 198.51.100.1 10.0.0.1 1\r\n')],
  ['two spaces', Buffer.from('PROXY TCP4  198.51.100.1 10.0.0.1 1 2\r\n')],
  ['another protocol', Buffer.from('PROXY UDP4 198.51.100.1 10.0.0.1 1 2\r\n')],
  ['a longer word', Buffer.from('PROXY UNKNOWNS\r\n')],
  ['no end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(107)}`)],
  ['an end too late', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(92)}\r\n`)],
  ['v2, another version', v2(0x11, 0x11, TCP4.subarray(16))],
  ['v2, another command', v2(0x22, 0x11, TCP4.subarray(16))],
  ['v2, too short for IPv4', v2(0x21, 0x11, Buffer.alloc(11))],
  ['v2, too short for IPv6', v2(0x21, 0x21, Buffer.alloc(35))],
  ['v2, too long', v2(0x20, 0x00, Buffer.alloc(MAX_HEADER))],
];

describe('a header of the PROXY protocol', () => {
  for (const [what, bytes, address] of HEADERS) {
    it(`is read: ${what}`, () => {
      const behind = Buffer.concat([bytes, Buffer.from('GET / HTTP/1.1\r\n')]);
      assert.deepEqual(parseProxyHeader(behind), { length: bytes.length, address });
      for (let length = 0; length < bytes.length; length += 1) {
        assert.equal(parseProxyHeader(bytes.subarray(0, length)), 'incomplete', `${length} bytes`);
      }
    });
  }

  for (const [what, bytes] of NO_HEADERS) {
    it(`is none: ${what}`, () => assert.equal(parseProxyHeader(bytes), 'invalid'));
  }
});
