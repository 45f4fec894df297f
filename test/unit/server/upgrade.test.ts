import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PassThrough, type Duplex } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { Admission, type AdmissionCheck } from '../../../src/server/admission.ts';
import { OriginCheck } from '../../../src/server/origin-check.ts';
import {
  refuseUpgrade,
  Upgrade,
  type AcceptUpgrade,
  type UpgradeOptions,
} from '../../../src/server/upgrade.ts';
import { Turns, type Job } from '../../../src/support/turns.ts';
import { Living } from '../../helpers/living.ts';
import { range } from '../../helpers/numbers.ts';
import { ask, dial, done, listen, silent, upgradeRequest } from './serve.ts';
import { deferred } from '../../helpers/deferred.ts';

interface Given extends Partial<Pick<UpgradeOptions, 'turns' | 'unavailable'>> {
  readonly checks?: readonly AdmissionCheck[];
  readonly now?: () => number;
}

/** An upgrade of which each socket is admitted. */
function upgradeTo(path: string, accept: AcceptUpgrade, given: Given = {}) {
  const { checks = [], now = () => 0, ...rest } = given;
  return new Upgrade({
    path,
    originCheck: new OriginCheck([]),
    admission: new Admission({ checks, refused: () => undefined, random: () => 0.5 }),
    turns: new Turns({ msPerSecond: 1_000, now }),
    unavailable: () => undefined,
    accept,
    log: silent,
    ...rest,
  });
}

async function serveUpgrades(t: TestContext, accept: AcceptUpgrade, given: Given = {}): Promise<number> {
  const { handle } = upgradeTo('/graphql', accept, given);
  return (await listen(t, { handle: done, upgrade: handle })).port;
}

/** A client that has asked for an upgrade. */
function asking(t: TestContext, port: number, path = '/graphql', headers = ''): Socket {
  return dial(t, port, upgradeRequest(path, headers));
}

/** Reads until this has come. */
async function until(socket: Socket, expected: string): Promise<void> {
  for (let heard = ''; !heard.includes(expected);) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    heard += chunk.toString();
  }
}

const PLAIN = { url: '/', headers: {} } as IncomingMessage;

const refuse: AcceptUpgrade = () => assert.fail('accepted');

describe('Upgrade', () => {
  it('hands over an upgrade to its path, with its query and first bytes', async (t) => {
    const port = await serveUpgrades(t, (request, socket, head) => {
      socket.end(`${request.url} ${head.toString()}`);
    });
    const request = upgradeRequest('/graphql?a=b').replace('websocket', 'WebSocket');
    assert.equal(await text(dial(t, port, `${request}first`)), '/graphql?a=b first');
  });

  it('refuses any other path with 404', async (t) => {
    const port = await serveUpgrades(t, refuse);
    for (const path of ['/', '/graphql/', '/graphqlx', '//graphql', '/GraphQL']) {
      assert.match(await text(asking(t, port, path)), /^HTTP\/1\.1 404 Not Found\r\n/, path);
    }
  });

  it('refuses a page of another host with a whole response that says why', async (t) => {
    const port = await serveUpgrades(t, refuse);
    const answer = await text(asking(t, port, '/graphql', 'origin: https://evil.example\r\n'));
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 403 Forbidden\r\nConnection: close\r\n/);
    assert.match(head, new RegExp(`^Content-Length: ${Buffer.byteLength(body)}$`, 'm'));
    const message = 'expected an Origin that is the gateway\'s own host, got "https://evil.example"';
    assert.deepEqual(JSON.parse(body), { errors: [{ message, extensions: { code: 'ORIGIN_NOT_ALLOWED' } }] });
  });

  it('refuses what a check finds fault with, and says when to come back', async (t) => {
    const full: AdmissionCheck = { fault: () => ({ reason: 'connections', message: 'expected fewer' }) };
    const port = await serveUpgrades(t, refuse, { checks: [{ fault: () => undefined }, full] });
    const [head = '', body] = (await text(asking(t, port))).split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 6\r\n/);
    assert.deepEqual(JSON.parse(body ?? ''), { error: 'expected fewer' });
  });

  it('answers a request to upgrade to another protocol as one without, and those that follow on its connection', async (t) => {
    const { handle } = upgradeTo('/', refuse);
    const { port } = await listen(t, {
      handle: async (request, response) => void response.end(`got ${await text(request)}.`),
      upgrade: handle,
    });
    const h2c = 'connection: upgrade, http2-settings\r\nupgrade: h2c\r\ncontent-length: 5\r\n';
    const socket = dial(t, port, `POST / HTTP/1.1\r\nhost: a\r\n${h2c}\r\nfirst`);
    await until(socket, 'got first.');
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: TLS/1.0, h2c\r\n\r\n');
    await until(socket, 'got .');
    socket.write('POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 4\r\n\r\nlast');
    assert.match(await text(socket), /got last\./);
  });

  it('survives a client that disconnects while it is being refused, and waits for none to close its side', async () => {
    const socket: Duplex = new PassThrough();
    upgradeTo('/graphql', refuse).handle(PLAIN, socket, Buffer.alloc(0));
    assert.doesNotThrow(() => socket.emit('error', new Error('ECONNRESET')));
    const refused: Duplex = new PassThrough();
    refuseUpgrade(refused, { status: 404, message: 'not here' });
    await once(refused, 'close');
  });

  it('closes the socket and goes on when the handler throws', async (t) => {
    const port = await serveUpgrades(t, () => {
      throw new Error('broken');
    });
    assert.equal(await text(asking(t, port)).catch(() => ''), '');
    assert.equal((await ask(port, '/')).body, 'done');
  });

  it('keeps neither a listener on a socket that it handed over, nor its request for as long as it lives', async (t) => {
    const taken = deferred<Duplex>();
    const requests = new Living();
    const port = await serveUpgrades(t, (request, socket) => {
      requests.add(request);
      taken.resolve(socket);
    });
    const client = asking(t, port);
    const socket = await taken.promise;
    assert.deepEqual([socket.listenerCount('error'), socket.listenerCount('finish')], [0, 0]);
    assert.equal(await requests.count(), 0);
    assert.equal(socket.destroyed, false);
    client.end();
    socket.resume().end();
    await once(socket, 'close');
  });

  it('spreads many that come at once over turns of the event loop, and passes over those that leave meanwhile', async () => {
    let now = 0;
    const accepted: Duplex[] = [];
    const accept: AcceptUpgrade = (_request, socket) => {
      now += 2;
      accepted.push(socket);
    };
    const { handle } = upgradeTo('/', accept, { now: () => now });
    const sockets = range(0, 8).map(() => new PassThrough());
    for (const socket of sockets) handle(PLAIN, socket, Buffer.alloc(0));
    assert.equal(accepted.length, 3, 'of 2 ms each, where a turn has 5');
    sockets[5]?.destroy(new Error('ECONNRESET'));
    for (const count of [6, 7]) {
      await nextTurn();
      assert.equal(accepted.length, count);
    }
    const taken = sockets.filter((_, index) => index !== 5);
    assert.deepEqual(accepted, taken);
    assert.equal(sockets[7]?.listenerCount('error'), 0);
  });

  it('refuses one that has waited for its turn if the server has begun to stop meanwhile', async (t) => {
    const waiting = deferred<Job>();
    const { handle } = upgradeTo('/graphql', refuse, {
      turns: {
        run: (_owner, job) => {
          waiting.resolve(job);
          return undefined;
        },
      },
      unavailable: () => server.unavailable(),
    });
    const { port, server } = await listen(t, { handle: done, upgrade: handle });
    const answer = text(asking(t, port));
    const job = await waiting.promise;
    server.refuseUpgrades();
    job();
    assert.match(await answer, /^HTTP\/1\.1 503 .*this pod is stopping/s);
  });
});
