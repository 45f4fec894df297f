import assert from 'node:assert/strict';
import { it } from 'node:test';
import { execute, parse } from 'graphql';
import { Operation } from '../../../src/executor/operation.ts';
import { RandomDocuments, seeded } from './random-documents.ts';
import { ROOTS } from './zoo-events.ts';
import { schema } from './zoo.ts';
import { executorFor, RUNS, unmasked } from './small-executor.ts';

const DOCUMENTS = 150;
const SEED = 20_261_121;

/** Each would keep nearly every document from being compiled, or from running compiled to its end. */
const SPECIAL = /^(pet|late_party|methods|hostile.*|fails.*|rejects.*|returns_error)$/;

it(`gives what graphql-js gives for ${DOCUMENTS} documents made at random, most of them compiled`, async () => {
  const choose = seeded(SEED);
  const calm = new RandomDocuments(
    schema,
    choose,
    ({ name, args }) => args.length === 0 && !SPECIAL.test(name),
  );
  const wild = new RandomDocuments(schema, choose, ({ name, args }) => args.length === 0 && name !== 'pet');
  const roots = Object.entries(ROOTS);
  let compiled = 0;
  for (let index = 0; index < DOCUMENTS; index++) {
    const text = (index % 3 === 0 ? wild : calm).next();
    const executor = executorFor(schema, { maskErrors: false });
    const operation = executor.prepare(text);
    assert.ok(operation instanceof Operation, `${JSON.stringify(operation)}\n${text}`);
    const document = parse(text, { noLocation: true });
    const variableValues = { a: choose(2) === 0, b: choose(2) === 0 };
    const [rootTitle, rootValue] = roots[choose(4) === 0 ? choose(roots.length) : 0] ?? [];
    const original = await execute({ schema, document, rootValue, variableValues, contextValue: null });
    const expected = unmasked(schema, operation, original);
    for (let run = 1; run <= RUNS; run++) {
      const result = await executor.execute(operation, rootValue, null, variableValues);
      const message = `run ${run}, ${rootTitle}, ${JSON.stringify(variableValues)}\n${text}`;
      assert.equal(JSON.stringify(result), JSON.stringify(expected), message);
    }
    if (executor.counts.compiled > 0 && executor.counts.fallback === 0) compiled++;
  }
  assert.ok(compiled > DOCUMENTS / 2, `expected most documents to run compiled, got ${compiled}`);
});
