import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import test from 'node:test';
import { isFromThisMachine } from '../../../src/server/loopback.ts';

/** Loopback is all that a test can connect from, so requests are made up here. */
function isLocal(remoteAddress: string | undefined, headers: Readonly<Record<string, string>>): boolean {
  return isFromThisMachine({ socket: { remoteAddress }, headers } as unknown as IncomingMessage);
}

const LOCAL = ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'];
const REMOTE = ['10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', '128.0.0.1', '::127.0.0.1', undefined];

test('a request from this machine comes from a loopback address', () => {
  for (const peer of LOCAL) assert.ok(isLocal(peer, { host: 'localhost' }), peer);
  for (const peer of REMOTE) assert.ok(!isLocal(peer, { host: 'localhost' }), peer);
});

test('a request from this machine says that it is for this machine', () => {
  for (const host of ['localhost', 'LOCALHOST:4001', '127.0.0.1:4001', '[::1]', '[::1]:4001']) {
    assert.ok(isLocal('127.0.0.1', { host }), host);
  }
  for (const host of ['a.example', 'localhost.a.example', '127.0.0.1.a.example', 'localhost:x', '']) {
    assert.ok(!isLocal('127.0.0.1', { host }), host);
  }
  assert.ok(!isLocal('127.0.0.1', {}));
});

test('a request from this machine is not one that a proxy passes on', () => {
  for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-proto', 'x-real-ip']) {
    assert.ok(!isLocal('127.0.0.1', { host: 'localhost', [name]: '8.8.8.8' }), name);
  }
});
