import assert from 'node:assert/strict';
import test from 'node:test';
import { graphql, GraphQLObjectType, GraphQLSchema, GraphQLString, parse } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { BackendError } from '../../../src/backends/error.ts';
import { backend, json, statuses } from './fixture.ts';

const source = '{ seller }';

function schemaOf(seller: () => Promise<unknown>): GraphQLSchema {
  const fields = { seller: { type: GraphQLString, resolve: () => seller() } };
  return new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) });
}

const RUNNERS = {
  'graphql-js': (schema: GraphQLSchema) => graphql({ schema, source }),
  'graphql-jit': async (schema: GraphQLSchema) => {
    const compiled = compileQuery(schema, parse(source));
    if (!isCompiledQuery(compiled)) assert.fail('expected the query to compile');
    return compiled.query({}, {}, {});
  },
};

for (const [name, run] of Object.entries(RUNNERS)) {
  test(`through ${name}, clients see code, back end and status of a failure, and nothing else`, async (t) => {
    const { api } = await backend(t, (response) => json(response, { secret: 'body' }, 403));
    const { errors } = await run(schemaOf(() => api.get('/secret-path')));
    const [shown] = JSON.parse(JSON.stringify(errors)) as [Record<string, unknown>];
    delete shown['locations'];
    assert.deepEqual(shown, {
      message: 'The back end api rejected the request.',
      path: ['seller'],
      extensions: { code: 'BACKEND_REJECTED', backend: 'api', status: 403 },
    });
  });
}

test('the error keeps its cause, and shows it neither in JSON nor among its keys', () => {
  const cause = new Error('connect ECONNREFUSED 10.0.0.1:80');
  const error = new BackendError('BACKEND_UNAVAILABLE', 'api', { cause });
  assert.equal(error.cause, cause);
  assert.equal(error.originalError, undefined);
  assert.ok(!Object.keys(error).includes('cause'));
  assert.doesNotMatch(JSON.stringify(error) + error.stack, /10\.0\.0\.1/);
});

test('the log says why a GraphQL server has refused a request, and nothing else of what it answers', async (t) => {
  for (const [type, body, reason] of [
    [
      'application/json',
      '{"errors":[{"message":"Unknown field"},{"message":"b"}],"secret":1}',
      'status 400: Unknown field',
    ],
    ['application/graphql-response+json; charset=utf-8', '{"errors":[{"message":"No"}]}', 'status 400: No'],
    ['application/json', '{"error":"secret"}', 'status 400'],
    ['application/json', 'secret', 'status 400'],
    ['text/html', '{"errors":[{"message":"secret"}]}', 'status 400'],
    ['application/json', `{"errors":[{"message":"${'x'.repeat(20_000)}"}]}`, 'status 400'],
  ] as const) {
    const { api, lines } = await backend(t, (response) => {
      response.writeHead(400, { 'content-type': type, 'content-length': body.length }).end(body);
    });
    await api.post('', {}).catch(() => undefined);
    const [line] = lines.map((text) => JSON.parse(text) as Record<string, unknown>);
    assert.equal(line?.['reason'], reason);
  }
});

test('the log says why a call failed, once in ten seconds for each code', async (t) => {
  const { api, clock, lines } = await backend(t, statuses(400, 400, 500, 400));
  for (let turn = 0; turn < 4; turn++) await api.get('/').catch(() => undefined);
  clock.advance(10_000);
  await api.get('/').catch(() => undefined);
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    logged.map(({ code, status, reason, suppressed, ...line }) => {
      return [line['backend'], code, status, reason, suppressed];
    }),
    [
      ['api', 'BACKEND_REJECTED', 400, 'status 400', 0],
      ['api', 'BACKEND_FAILED', 500, 'status 500', 0],
      ['api', 'BACKEND_REJECTED', 400, 'status 400', 2],
    ],
  );
});
