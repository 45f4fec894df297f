import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { execute, parse, type DocumentNode, type ExecutionResult } from 'graphql';
import { Contexts } from '../../../src/context/event-scope.ts';
import { Operation } from '../../../src/executor/operation.ts';
import type { GraphContext } from '../../../src/graph/api/context.ts';
import { ReadSet } from '../../../src/lazy/reads.ts';
import { DOCUMENTS, type Case } from './documents-of-zoo.ts';
import { ROOTS } from './zoo-events.ts';
import { schema } from './zoo.ts';
import { executorFor, RUNS, unmasked } from './small-executor.ts';

/** Where objects are expected they have something else, in which graphql-js finds no fields: no error, but a fallback. */
const ODD_ROOTS: ReadonlySet<string> = new Set(['an event with wrong types']);

describe('an operation that the executor runs', () => {
  for (const [title, example] of Object.entries(DOCUMENTS)) {
    it(`gives what graphql-js gives, interpreted and compiled: ${title}`, async () => {
      for (const kind of ['subscription', 'query'] as const) {
        for (const [rootTitle, root] of Object.entries(ROOTS)) {
          for (const variables of example.variables ?? [{}]) {
            await same(kind, example, rootTitle, root, variables);
          }
        }
      }
    });
  }
});

async function same(
  kind: 'subscription' | 'query',
  example: Case,
  rootTitle: string,
  root: unknown,
  variables: Record<string, unknown>,
): Promise<void> {
  const executor = executorFor(schema, { maskErrors: false });
  const query = kind === 'query' ? asQuery(example.text) : example.text;
  const operation = executor.prepare(query);
  assert.ok(operation instanceof Operation, JSON.stringify(operation));
  const ofGraphqlJs = (document: DocumentNode): ExecutionResult | Promise<ExecutionResult> =>
    execute({
      schema,
      document,
      rootValue: root,
      // The same values, made beforehand.
      contextValue: { ...lazyContext() },
      variableValues: variables,
    });
  const begun = await ofGraphqlJs(parse(query, { noLocation: true }));
  // Errors of variables have locations.
  const expected = 'data' in begun ? unmasked(schema, operation, begun) : await ofGraphqlJs(parse(query));
  for (let run = 1; run <= RUNS; run++) {
    const result = await executor.execute(operation, root, lazyContext(), variables);
    assert.equal(JSON.stringify(result), JSON.stringify(expected), `run ${run}, ${kind}, ${rootTitle}`);
  }
  const clean = expected.errors === undefined;
  if (clean && example.compiles !== false) {
    assert.equal(executor.counts.compiled, 1, `compiled: ${kind}, ${rootTitle}`);
    if (example.fallsBack !== true && !ODD_ROOTS.has(rootTitle))
      assert.equal(executor.counts.fallback, 0, `no fallback: ${kind}, ${rootTitle}`);
  }
  if (example.compiles === false) assert.equal(executor.counts.compiled, 0, 'not compiled');
}

/** A context as the hub makes it, with something of the graph's own. */
function lazyContext(): GraphContext {
  const code = { context: () => Proxy.lazy({ of: 'the execution' }), loaders: () => Proxy.lazy({ one: 1 }) };
  const contexts = new Contexts(code, { bind: () => ({}) }, () => 5);
  return contexts.scopeOf({}).execution({ id: 7 }, new ReadSet()).context;
}

function asQuery(text: string): string {
  return text.replace('subscription', 'query').replaceAll('on Subscription', 'on Query');
}
