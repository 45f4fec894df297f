import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HttpError } from '../../../src/server/http-error.ts';
import { createLog } from '../../../src/log.ts';
import { readBody } from '../../../src/server/body.ts';
import { Router, type Route } from '../../../src/server/router.ts';
import { fileScope } from '../../helpers/scope.ts';
import { ask, dial, errorOf, essence, listen, serve } from './serve.ts';
import { deferred } from '../../helpers/deferred.ts';

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

const port = await serve(fileScope(), routes);
const bodyOf = async (path: string): Promise<string> => (await ask(port, path)).body;

describe('Router', () => {
  it('finds routes by their exact path, with any query, and hands on the rest of one that ends in a slash', async () => {
    assert.equal(await bodyOf('/?a'), 'root');
    assert.equal(await bodyOf('/one?x=/many/y'), 'one');
    assert.equal(await bodyOf('/many/a%2Fb/../c?d'), 'a%2Fb/../c', 'as it was sent');
  });

  it('answers 404 in JSON for any other path, and lists the routes', async () => {
    for (const path of ['/one/', '/On', '/many', '//']) {
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
    const guarding = await serve(t, [...routes, guarded]);
    assert.equal((await ask(guarding, '/one/guarded', { headers: { 'x-key': 'right' } })).body, 'in');
    for (const method of ['GET', 'POST']) {
      const shown = await ask(guarding, '/one/guarded', { method });
      assert.deepEqual(essence(shown), essence(await ask(guarding, '/one/nowhere', { method })));
    }
  });

  it('answers 405 with the methods that are allowed, and HEAD as GET without the body', async () => {
    const answer = await ask(port, '/one', { method: 'DELETE' });
    assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET, HEAD, POST']);
    const { status, body } = await ask(port, '/one', { method: 'HEAD' });
    assert.deepEqual({ status, body }, { status: 200, body: '' });
  });

  it('sends a refusal with its status, message and headers, and nothing of an unexpected error', async () => {
    const refused = await ask(port, '/throws', { method: 'POST' });
    assert.deepEqual([refused.status, errorOf(refused)], [418, 'a teapot']);
    assert.equal(refused.headers['x-tea'], 'green');
    const { status, body } = await ask(port, '/throws');
    assert.deepEqual({ status, body }, { status: 500, body: '{"error":"internal error"}\n' });
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
    const logging = await listen(t, { handle: new Router([...routes, reading], log).handle });
    const half = 'POST /reading HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhalf';
    const socket = dial(t, logging.port, half);
    await left.promise;
    await ask(logging.port, '/throws');
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /request failed: the database password is hunter2/);
  });
});
