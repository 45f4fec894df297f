import assert from 'node:assert/strict';
import { buildSchema } from 'graphql';
import { describe, it } from 'node:test';
import { Graphiql } from '../../../../src/server/graphiql/graphiql.ts';
import { fileScope } from '../../../helpers/scope.ts';
import { ask, serve } from '../serve.ts';

const html = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
const graphiql = await Graphiql.load(buildSchema('type Query { a: Int } type Subscription { tick: Int }'));

const port = await serve(fileScope(), graphiql.routes);
const page = await ask(port, '/', html);

describe('GraphiQL', () => {
  it('sends its page to clients that accept HTML', async () => {
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal((await ask(port, '/')).status, 404);
  });

  it('refers only to files that the gateway serves', async () => {
    const names = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name ?? '');
    const files = names.filter((name) => !name.startsWith('data:'));
    assert.equal(files.length, 7);
    for (const file of files) {
      const { status, headers } = await ask(port, `/${file}`, { method: 'HEAD' });
      assert.equal(status, 200, file);
      assert.match(headers['content-type'] ?? '', file.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
    }
  });

  it('allows the page no inline scripts and no other host', () => {
    const { 'content-security-policy': policy, ...headers } = page.headers;
    assert.match(String(policy), /default-src 'none'.*script-src 'self';/);
    assert.match(String(policy), /connect-src 'self';.*frame-ancestors 'none'$/);
    assert.doesNotMatch(String(policy), /https?:|\*|unsafe-eval/);
    assert.deepEqual([headers['x-frame-options'], headers['referrer-policy']], ['DENY', 'no-referrer']);
  });

  it('holds the examples for its script', () => {
    const [, examples = ''] =
      /<script type="application\/json" id="examples">(.*?)<\/script>/s.exec(page.body) ?? [];
    assert.match((JSON.parse(examples) as [string])[0], /subscription Tick \{\n {2}tick\n\}/);
  });

  it('shows no name of a schema that not all may read', async (t) => {
    const { body } = await ask(await serve(t, (await Graphiql.load(undefined)).routes), '/', html);
    assert.match(body, /INTROSPECTION/);
    assert.doesNotMatch(body, /tick/i);
  });

  it('sends a file once, as long as it stays the same', async () => {
    const first = await ask(port, '/graphiql/react.js');
    assert.equal(first.body.length, Number(first.headers['content-length']));
    assert.equal(first.headers['cache-control'], 'no-cache');
    const again = (etag = '') => ask(port, '/graphiql/react.js', { headers: { 'if-none-match': etag } });
    const { status, body } = await again(first.headers.etag);
    assert.deepEqual({ status, body }, { status: 304, body: '' });
    assert.equal((await again('"other"')).status, 200);
  });

  it('serves no other file', async () => {
    for (const path of ['../package.json', '..%2f..%2fpackage.json', '/etc/passwd', 'graphiql/page.js', '']) {
      assert.equal((await ask(port, `/graphiql/${path}`)).status, 404, path);
    }
  });
});
