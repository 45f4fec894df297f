import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { HttpError } from '../../../src/server/http-error.ts';
import { createLog } from '../../../src/log.ts';
import { readBody } from '../../../src/server/body.ts';
import { Router, type Route } from '../../../src/server/router.ts';
import { ask, deferred, errorOf, essence, listen, serve } from './serve.ts';

const routes: readonly Route[] = [
  { path: '/', methods: { GET: (_request, response) => void response.end('root') } },
  { path: '/one', methods: { GET: (_request, response) => void response.end('one'), POST: () => {} } },
  { path: '/many/', methods: { GET: (_request, response, rest) => void response.end(rest) } },
  {
    path: '/throws',
    methods: {
      GET: async () => {
        throw new Error('the database password is hunter2');
      },
      POST: () => {
        throw new HttpError(418, 'a teapot', { 'x-tea': 'green' });
      },
    },
  },
];

describe('Router', () => {
  it('finds routes by their exact path, with any query', async (t) => {
    const port = await serve(t, routes);
    assert.equal((await ask(port, '/?a')).body, 'root');
    assert.equal((await ask(port, '/one?x=/many/y')).body, 'one');
  });

  it('hands a route that ends in a slash the rest of the path as it was sent', async (t) => {
    const port = await serve(t, routes);
    assert.equal((await ask(port, '/many/a%2Fb/../c?d')).body, 'a%2Fb/../c');
  });

  it('answers 404 in JSON for any other path, and lists the routes', async (t) => {
    const port = await serve(t, routes);
    for (const path of ['/one/', '/On', '/many', '//', '/favicon.ico']) {
      const answer = await ask(port, path);
      assert.equal(answer.status, 404);
      assert.equal(errorOf(answer), 'expected one of the paths /, /one, /many/, /throws, got another');
    }
  });

  it('shows a route only to clients that it admits; to others its path does not exist', async (t) => {
    const guarded: Route = {
      path: '/one/guarded',
      admits: ({ headers }) => headers['x-key'] === 'right',
      methods: { GET: (_request, response) => void response.end('in') },
    };
    const port = await serve(t, [...routes, guarded]);
    assert.equal((await ask(port, '/one/guarded', { headers: { 'x-key': 'right' } })).body, 'in');
    for (const method of ['GET', 'POST']) {
      assert.deepEqual(
        essence(await ask(port, '/one/guarded', { method })),
        essence(await ask(port, '/one/nowhere', { method })),
      );
    }
  });

  it('answers 405 with the methods that are allowed', async (t) => {
    const port = await serve(t, routes);
    const answer = await ask(port, '/one', { method: 'DELETE' });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.allow, 'GET, HEAD, POST');
  });

  it('answers HEAD as GET without the body', async (t) => {
    const port = await serve(t, routes);
    const { status, body } = await ask(port, '/one', { method: 'HEAD' });
    assert.deepEqual({ status, body }, { status: 200, body: '' });
  });

  it('does not show the message of an unexpected error to the client', async (t) => {
    const port = await serve(t, routes);
    const answer = await ask(port, '/throws');
    assert.equal(answer.status, 500);
    assert.equal(answer.body, '{"error":"internal error"}\n');
  });

  it('logs unexpected errors, not those of clients that disconnected', async (t) => {
    const lines: string[] = [];
    const left = deferred();
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const reading: Route = {
      path: '/reading',
      methods: {
        POST: async (request) => {
          socket.resetAndDestroy();
          await readBody(request, 1_000).finally(left.resolve);
        },
      },
    };
    const { port } = await listen(t, { handle: new Router([...routes, reading], log).handle });
    const socket = connect(port, 'localhost');
    socket.write('POST /reading HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhalf');
    await left.promise;
    await ask(port, '/throws');
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /request failed: the database password is hunter2/);
  });

  it('sends a refusal with its status, message and headers', async (t) => {
    const port = await serve(t, routes);
    const answer = await ask(port, '/throws', { method: 'POST' });
    assert.equal(answer.status, 418);
    assert.equal(errorOf(answer), 'a teapot');
    assert.equal(answer.headers['x-tea'], 'green');
  });
});
