import { isIPv4, isIPv6 } from 'node:net';

/** The header of the PROXY protocol at the beginning of a connection. */
export interface ProxyHeader {
  /** Bytes. */
  readonly length: number;
  /** The client's address; undefined if the proxy connects for itself, as for a health check, or does not know it. */
  readonly address: string | undefined;
}

/** Version 1: at most so many bytes, CRLF included. */
const MAX_V1 = 107;

/** Version 2: its beginning, before version and command, family, and the length of the rest. */
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n');
const FIXED_V2 = SIGNATURE.length + 4;

/** Addresses take 36 bytes at most; what proxies add to them (certificates, ids) is skipped. */
const MAX_REST_V2 = 2_048;

const LOCAL = 0x20;
const PROXY = 0x21;
const TCP4 = 0x11;
const TCP6 = 0x21;

/** The longest that a header can be. */
export const MAX_HEADER = FIXED_V2 + MAX_REST_V2;

/**
 * Parses the header at the beginning of these bytes, of version 1 or 2 of
 * https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt. Own code: existing packages accept anything that looks like
 * a header, or are not maintained.
 *
 * @returns 'incomplete' if more bytes are needed; 'invalid' if they do not begin with a header
 */
export function parseProxyHeader(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  const begun = bytes.subarray(0, SIGNATURE.length);
  if (begun.equals(SIGNATURE.subarray(0, begun.length))) return parseV2(bytes);
  return parseV1(bytes);
}

function parseV1(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  const text = bytes.toString('latin1', 0, MAX_V1);
  if (!text.startsWith('PROXY '.slice(0, text.length))) return 'invalid';
  const end = text.indexOf('\r\n');
  if (end === -1) return text.length < MAX_V1 ? 'incomplete' : 'invalid';
  const line = text.slice(0, end);
  const length = end + 2;
  if (/^PROXY UNKNOWN(?: |$)/.test(line)) return { length, address: undefined };
  const [, family, source = '', destination = '', ...ports] =
    /^PROXY TCP([46]) (\S+) (\S+) (\d{1,5}) (\d{1,5})$/.exec(line) ?? [];
  const isAddress = family === '4' ? isIPv4 : isIPv6;
  if (!isAddress(source) || !isAddress(destination)) return 'invalid';
  return ports.every((port) => Number(port) <= 65_535) ? { length, address: source } : 'invalid';
}

function parseV2(bytes: Buffer): ProxyHeader | 'incomplete' | 'invalid' {
  if (bytes.length < FIXED_V2) return 'incomplete';
  const command = bytes[SIGNATURE.length];
  const family = bytes[SIGNATURE.length + 1];
  const rest = bytes.readUInt16BE(SIGNATURE.length + 2);
  if ((command !== LOCAL && command !== PROXY) || rest > MAX_REST_V2) return 'invalid';
  const length = FIXED_V2 + rest;
  if (bytes.length < length) return 'incomplete';
  if (command === PROXY && family === TCP4) {
    return rest < 12 ? 'invalid' : { length, address: bytes.subarray(FIXED_V2, FIXED_V2 + 4).join('.') };
  }
  if (command === PROXY && family === TCP6) {
    return rest < 36 ? 'invalid' : { length, address: ipv6(bytes.subarray(FIXED_V2, FIXED_V2 + 16)) };
  }
  return { length, address: undefined };
}

function ipv6(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16)).join(':');
}
