import assert from 'node:assert/strict';
import { it } from 'node:test';
import { getStitchedSchemaFromSupergraphSdl } from '@graphql-tools/federation';
import { composeServices } from '@theguild/federation-composition';
import {
  parse,
  print,
  subscribe,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { Contexts } from '../../../../src/context/event-scope.ts';
import { ReadSet } from '../../../../src/lazy/reads.ts';
import { fakeBackends } from '../../../../src/testing/fake-backends.ts';
import { RandomDocuments, seeded } from '../../executor/random-documents.ts';
import { executorFor, prepared } from '../../executor/small-executor.ts';
import { difference } from './difference.ts';
import { COMPOSED, randomEvent, worldOfEntities, type World } from './world.ts';

const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 100);
const SEED = Number(process.env['SEED'] ?? 20_261_130);

type Variables = Readonly<Record<string, unknown>>;

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.4", import: ["@key", "@shareable"])';

/** Fields that a router reads from a subgraph that the gateway does not ask: only events hold them. */
const ONLY_IN_EVENTS: ReadonlySet<string> = new Set(['price', 'size', 'labelled']);

it(`gives what a router gives over the composed subgraphs, for ${DOCUMENTS} documents made at random`, async (t) => {
  const world = await worldOfEntities(t, false);
  const { graph, products, users } = world;
  const events: Record<string, unknown>[] = [];
  const router = routerOver(world, () => events.at(-1));
  const choose = seeded(SEED);
  const documents = new RandomDocuments(graph.schema, choose, ({ name }) => !ONLY_IN_EVENTS.has(name), {
    variables: '$n: Int = 1 $sort: Sort',
    conditions: [],
    using: '_v: gift @skip(if: $a) { _r: reviews(first: $n, sort: $sort) { id } }',
    argumentsOf: ({ args }) => (args.length === 0 ? [] : ['(first: $n)', '(first: 1)']),
  });
  const answers = { products: products.answer, users: users.answer };
  const backends = fakeBackends(graph.definition.backends ?? {}, answers, JSON.parse);
  const contexts = new Contexts({}, { bind: () => backends }, Date.now, graph);
  let size = 0;
  for (let index = 0; index < DOCUMENTS; index += 1) {
    const text = documents.next();
    const event = randomEvent(choose);
    events.push(event);
    const variables = { a: choose(2) === 0, b: choose(2) === 0, n: choose(3), sort: 'NEW' };
    const executor = executorFor(graph.schema, { maskErrors: false });
    const { context } = contexts.scopeOf(event).execution({}, new ReadSet());
    const result = await executor.execute(prepared(executor, text), event, context, variables);
    const expected = await firstOf(router, parse(text), variables);
    const [got, wanted] = [result.data, expected.data].map(
      (data) => JSON.parse(JSON.stringify(data, sorted)) as unknown,
    );
    const message = `document ${index}: ${difference(got, wanted).slice(0, 500)} ${expected.errors?.[0]?.message}
${JSON.stringify(event)}
${text}`;
    assert.equal(JSON.stringify(got), JSON.stringify(wanted), message);
    size += JSON.stringify(result.data).length;
  }
  assert.ok(size > DOCUMENTS * 300, `${size} bytes`);
});

/** For JSON.stringify: a router may give an object's keys in another order. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The schema that Hive Gateway executes. */
function routerOver({ graph, products, users }: World, event: () => unknown): GraphQLSchema {
  const sdls = {
    live: graph.subgraphSdl,
    products: `${LINK} ${COMPOSED.products}`,
    users: `${LINK} ${COMPOSED.users}`,
  };
  const { errors, supergraphSdl } = composeServices(
    Object.entries(sdls).map(([name, sdl]) => ({
      name,
      typeDefs: parse(sdl),
      url: `http://${name}.invalid`,
    })),
  );
  assert.ok(supergraphSdl !== undefined, JSON.stringify(errors));
  const one = async function* (): AsyncGenerator<unknown> {
    yield event();
  };
  return getStitchedSchemaFromSupergraphSdl({
    supergraphSdl,
    onSubschemaConfig: (config) => {
      const subgraph = { products, users }[config.name.toLowerCase()];
      config.executor = ({ document, variables = {} }) => {
        if (subgraph === undefined) {
          const rootValue = { event: one };
          return subscribe({
            schema: graph.schema,
            document,
            variableValues: variables as Variables,
            rootValue,
          }) as never;
        }
        const body = { query: print(document), variables };
        return subgraph.answer({ method: 'POST', path: '', body, options: {} }) as never;
      };
    },
  });
}

async function firstOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Variables,
): Promise<ExecutionResult> {
  const results = await subscribe({ schema, document, variableValues: variables });
  assert.ok(Symbol.asyncIterator in results, JSON.stringify(results));
  const { value } = await results.next();
  await results.return?.(undefined);
  return value as ExecutionResult;
}
