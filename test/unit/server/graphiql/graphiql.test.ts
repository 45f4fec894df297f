import assert from 'node:assert/strict';
import { buildSchema } from 'graphql';
import { describe, it } from 'node:test';
import { Graphiql } from '../../../../src/server/graphiql/graphiql.ts';
import { ask, serve } from '../serve.ts';

const html = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
const graphiql = await Graphiql.load(buildSchema('type Query { a: Int } type Subscription { tick: Int }'));

describe('GraphiQL', () => {
  it('sends its page to clients that accept HTML', async (t) => {
    const port = await serve(t, graphiql.routes);
    const page = await ask(port, '/', html);
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal((await ask(port, '/')).status, 404);
  });

  it('refers only to files that the gateway serves', async (t) => {
    const port = await serve(t, graphiql.routes);
    const { body } = await ask(port, '/', html);
    const names = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name ?? '');
    const files = names.filter((name) => !name.startsWith('data:'));
    assert.equal(files.length, 7);
    for (const file of files) {
      const { status, headers } = await ask(port, `/${file}`, { method: 'HEAD' });
      assert.equal(status, 200, file);
      assert.match(headers['content-type'] ?? '', file.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
    }
  });

  it('allows the page no inline scripts and no other host', async (t) => {
    const port = await serve(t, graphiql.routes);
    const { headers } = await ask(port, '/', html);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self';/);
    assert.match(policy, /connect-src 'self';/);
    assert.doesNotMatch(policy, /https?:|\*|unsafe-eval/);
    assert.match(policy, /frame-ancestors 'none'$/);
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.equal(headers['referrer-policy'], 'no-referrer');
  });

  it('holds the examples for its script', async (t) => {
    const port = await serve(t, graphiql.routes);
    const { body } = await ask(port, '/', html);
    const [, examples = ''] =
      /<script type="application\/json" id="examples">(.*?)<\/script>/s.exec(body) ?? [];
    assert.match((JSON.parse(examples) as [string])[0], /subscription Tick \{\n {2}tick\n\}/);
  });

  it('shows no name of a schema that not all may read', async (t) => {
    const port = await serve(t, (await Graphiql.load(undefined)).routes);
    const { body } = await ask(port, '/', html);
    assert.match(body, /INTROSPECTION/);
    assert.doesNotMatch(body, /tick/i);
  });

  it('sends a file once, as long as it stays the same', async (t) => {
    const port = await serve(t, graphiql.routes);
    const first = await ask(port, '/graphiql/react.js');
    assert.equal(first.body.length, Number(first.headers['content-length']));
    assert.equal(first.headers['cache-control'], 'no-cache');
    const etag = first.headers.etag ?? '';
    const again = await ask(port, '/graphiql/react.js', { headers: { 'if-none-match': etag } });
    assert.deepEqual({ status: again.status, body: again.body }, { status: 304, body: '' });
    const other = await ask(port, '/graphiql/react.js', { headers: { 'if-none-match': '"other"' } });
    assert.equal(other.status, 200);
  });

  for (const path of ['../package.json', '..%2f..%2fpackage.json', '/etc/passwd', 'graphiql/page.js', '']) {
    it(`does not serve /graphiql/${path}`, async (t) => {
      const port = await serve(t, graphiql.routes);
      assert.equal((await ask(port, `/graphiql/${path}`)).status, 404);
    });
  }
});
