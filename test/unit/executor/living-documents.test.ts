import assert from 'node:assert/strict';
import test from 'node:test';
import { parse } from 'graphql';
import { LivingDocuments } from '../../../src/executor/documents.ts';
import { Operation } from '../../../src/executor/operation.ts';
import { eventually } from '../../helpers/eventually.ts';

function operationOf(query: string): Operation {
  const document = parse(query, { noLocation: true });
  const [definition] = document.definitions;
  assert.ok(definition?.kind === 'OperationDefinition');
  return new Operation(query, document, definition);
}

test('documents that are no longer in use are forgotten, their text included', async () => {
  const living = new LivingDocuments();
  const inUse = operationOf('{ kept }');
  living.add(inUse.query, [inUse]);
  for (let index = 0; index < 100; index += 1) {
    const query = `{ number${index} }`;
    living.add(query, [operationOf(query)]);
  }
  assert.equal(living.size, 101);
  await eventually(() => {
    globalThis.gc?.();
    assert.equal(living.size, 1);
  });
  assert.deepEqual(living.of('{ kept }'), [inUse]);
  assert.equal(living.of('{ number1 }'), undefined);
});
