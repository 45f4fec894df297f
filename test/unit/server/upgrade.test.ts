import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
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
import { ask, deferred, done, listen, silent } from './serve.ts';

const open = (): undefined => undefined;

interface Given extends Partial<Pick<UpgradeOptions, 'turns' | 'unavailable'>> {
  readonly checks?: readonly AdmissionCheck[];
  readonly now?: () => number;
}

/** An upgrade of which each socket is admitted. */
function upgradeTo(
  path: string,
  accept: AcceptUpgrade,
  { checks = [], now = () => 0, ...given }: Given = {},
): Upgrade {
  const admission = new Admission({ checks, refused: () => undefined, random: () => 0.5 });
  const turns = new Turns({ msPerSecond: 1_000, now });
  const originCheck = new OriginCheck([]);
  return new Upgrade({
    path,
    originCheck,
    admission,
    turns,
    unavailable: open,
    accept,
    log: silent,
    ...given,
  });
}

async function serveUpgrades(t: TestContext, accept: AcceptUpgrade): Promise<number> {
  const { handle } = upgradeTo('/graphql', accept);
  return (await listen(t, { handle: done, upgrade: handle })).port;
}

/** Everything that comes back until the server ends the connection. */
async function upgrade(port: number, path: string, headers = ''): Promise<string> {
  const socket = connect(port, 'localhost');
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n${headers}\r\n`,
  );
  return text(socket);
}

/** Reads until this has come. */
async function until(socket: Socket, expected: string): Promise<void> {
  for (let heard = ''; !heard.includes(expected);) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    heard += chunk.toString();
  }
}

const refuse: AcceptUpgrade = () => assert.fail('accepted');

describe('Upgrade', () => {
  it('hands over an upgrade to its path, with its query and first bytes', async (t) => {
    const port = await serveUpgrades(t, (request, socket, head) => {
      socket.end(`${request.url} ${head.toString()}`);
    });
    const socket = connect(port, 'localhost');
    socket.write(
      `GET /graphql?a=b HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: upgrade\r\nupgrade: WebSocket\r\n\r\nfirst`,
    );
    assert.equal(await text(socket), '/graphql?a=b first');
  });

  for (const path of ['/', '/graphql/', '/graphqlx', '//graphql', '/GraphQL', '/events/bids']) {
    it(`refuses ${path} with 404`, async (t) => {
      const port = await serveUpgrades(t, refuse);
      assert.match(await upgrade(port, path), /^HTTP\/1\.1 404 Not Found\r\n/);
    });
  }

  it('refuses a page of another host with a whole response that says why', async (t) => {
    const port = await serveUpgrades(t, refuse);
    const [head = '', body = ''] = (
      await upgrade(port, '/graphql', 'origin: https://evil.example\r\n')
    ).split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 403 Forbidden\r\nConnection: close\r\n/);
    assert.match(head, new RegExp(`^Content-Length: ${Buffer.byteLength(body)}$`, 'm'));
    assert.deepEqual(JSON.parse(body), {
      errors: [
        {
          message: 'expected an Origin that is the gateway\'s own host, got "https://evil.example"',
          extensions: { code: 'ORIGIN_NOT_ALLOWED' },
        },
      ],
    });
  });

  it('refuses what a check finds fault with, and says when to come back', async (t) => {
    const { handle } = upgradeTo('/graphql', refuse, {
      checks: [
        { fault: () => undefined },
        { fault: () => ({ reason: 'connections', message: 'expected fewer' }) },
      ],
    });
    const { port } = await listen(t, { handle: done, upgrade: handle });
    const [head = '', body] = (await upgrade(port, '/graphql')).split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 6\r\n/);
    assert.deepEqual(JSON.parse(body ?? ''), { error: 'expected fewer' });
  });

  it('answers a request to upgrade to another protocol as one without', async (t) => {
    const port = await serveUpgrades(t, refuse);
    const headers = { connection: 'upgrade, http2-settings', upgrade: 'h2c', 'http2-settings': '' };
    const { status, body } = await ask(port, '/graphql', { headers });
    assert.deepEqual({ status, body }, { status: 200, body: 'done' });
  });

  it('reads the body of such a request, and the requests that follow on its connection', async (t) => {
    const { handle } = upgradeTo('/', refuse);
    const { port } = await listen(t, {
      handle: async (request, response) => void response.end(`got ${await text(request)}.`),
      upgrade: handle,
    });
    const socket = connect(port, 'localhost');
    socket.write(
      'POST / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\ncontent-length: 5\r\n\r\nfirst',
    );
    await until(socket, 'got first.');
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: TLS/1.0, h2c\r\n\r\n');
    await until(socket, 'got .');
    socket.write('POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 4\r\n\r\nlast');
    assert.match(await text(socket), /got last\./);
  });

  it('survives a client that disconnects while it is being refused', () => {
    const instance = upgradeTo('/graphql', refuse);
    const socket: Duplex = new PassThrough();
    instance.handle({ url: '/', headers: {} } as IncomingMessage, socket, Buffer.alloc(0));
    assert.doesNotThrow(() => socket.emit('error', new Error('ECONNRESET')));
  });

  it('does not wait for a refused client to close its side', async () => {
    const socket: Duplex = new PassThrough();
    refuseUpgrade(socket, { status: 404, message: 'not here' });
    await once(socket, 'close');
  });

  it('closes the socket and goes on when the handler throws', async (t) => {
    const port = await serveUpgrades(t, () => {
      throw new Error('broken');
    });
    assert.equal(await upgrade(port, '/graphql').catch(() => ''), '');
    assert.equal((await ask(port, '/')).body, 'done');
  });

  it('leaves no listener on a socket that it handed over', async (t) => {
    const taken = deferred<Duplex>();
    const port = await serveUpgrades(t, (_request, socket) => taken.resolve(socket));
    const client = connect(port, 'localhost');
    t.after(() => client.destroy());
    client.write(
      `GET /graphql HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
    );
    const socket = await taken.promise;
    assert.equal(socket.listenerCount('error'), 0);
    assert.equal(socket.listenerCount('finish'), 0);
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
    const sockets = Array.from({ length: 8 }, () => new PassThrough());
    for (const socket of sockets) {
      handle({ url: '/', headers: {} } as IncomingMessage, socket, Buffer.alloc(0));
    }
    assert.equal(accepted.length, 3, 'of 2 ms each, where a turn has 5');
    sockets[5]?.destroy(new Error('ECONNRESET'));
    for (const count of [6, 7]) {
      await nextTurn();
      assert.equal(accepted.length, count);
    }
    assert.deepEqual(
      accepted,
      sockets.filter((_, index) => index !== 5),
    );
    assert.equal(sockets[7]?.listenerCount('error'), 0);
  });

  it('refuses one that has waited for its turn if the server has begun to stop meanwhile', async (t) => {
    const waiting = deferred<Job>();
    const { handle } = upgradeTo('/graphql', refuse, {
      turns: { run: (_owner, job) => waiting.resolve(job) },
      unavailable: () => server.unavailable(),
    });
    const { port, server } = await listen(t, { handle: done, upgrade: handle });
    const answer = upgrade(port, '/graphql');
    const job = await waiting.promise;
    server.refuseUpgrades();
    job();
    assert.match(await answer, /^HTTP\/1\.1 503 .*this pod is stopping/s);
  });

  it('does not keep the request for as long as the socket lives', async (t) => {
    const taken = deferred<Duplex>();
    const requests = new Living();
    const port = await serveUpgrades(t, (request, socket) => {
      requests.add(request);
      taken.resolve(socket);
    });
    const client = connect(port, 'localhost');
    t.after(() => client.destroy());
    client.write(
      `GET /graphql HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
    );
    const socket = await taken.promise;
    t.after(() => socket.destroy());
    assert.equal(await requests.count(), 0);
    assert.equal(socket.destroyed, false);
  });
});
