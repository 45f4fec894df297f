import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { isFromThisMachine } from '../../../src/server/loopback.ts';

/** Loopback is all that a test can connect from, so requests are made up here. */
function request(remoteAddress: string | undefined, headers: Readonly<Record<string, string>>) {
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

describe('a request from this machine', () => {
  for (const address of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
    it(`may come from ${address}`, () =>
      assert.ok(isFromThisMachine(request(address, { host: 'localhost' }))));
  }

  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', '128.0.0.1', '::127.0.0.1', undefined]) {
    it(`does not come from ${address}`, () =>
      assert.ok(!isFromThisMachine(request(address, { host: 'localhost' }))));
  }

  for (const host of ['localhost', 'LOCALHOST:4001', '127.0.0.1:4001', '[::1]', '[::1]:4001']) {
    it(`may be for ${host}`, () => assert.ok(isFromThisMachine(request('127.0.0.1', { host }))));
  }

  for (const host of [
    'gateway.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost:x',
    '',
  ]) {
    it(`is not for ${JSON.stringify(host)}`, () =>
      assert.ok(!isFromThisMachine(request('127.0.0.1', { host }))));
  }

  it('says what it is for', () => assert.ok(!isFromThisMachine(request('127.0.0.1', {}))));

  for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-proto', 'x-real-ip']) {
    it(`is not one that a proxy passes on with ${name}`, () =>
      assert.ok(!isFromThisMachine(request('127.0.0.1', { host: 'localhost', [name]: '8.8.8.8' }))));
  }
});
