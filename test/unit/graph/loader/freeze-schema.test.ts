import assert from 'node:assert/strict';
import test from 'node:test';
import { buildSchema, parse, validate } from 'graphql';
import { freezeSchema } from '../../../../src/graph/loader/load-graph.ts';

const on = (type: string): string => `... on ${type} { __typename }`;
const all = (types: readonly string[]): string => types.map(on).join(' ');

test('of a frozen schema, fragments on interfaces and unions can be validated, on one without types too', () => {
  const schema = buildSchema(`
    interface Bare { a: Int }
    interface Base { a: Int }
    interface Node implements Base { a: Int }
    type Item implements Node & Base { a: Int }
    union Any = Item
    type Query { bare: Bare, base: Base, node: Node, any: Any }
  `);
  freezeSchema(schema);
  const document = `{
    bare { ${all(['Bare'])} }
    base { ${all(['Base', 'Node', 'Any', 'Item'])} }
    node { ${all(['Base', 'Node', 'Any', 'Item'])} }
    any { ${all(['Base', 'Node', 'Any', 'Item'])} }
  }`;
  assert.deepEqual(validate(schema, parse(document)), []);
  const [error] = validate(schema, parse(`{ bare { ${on('Item')} } }`));
  assert.match(error?.message ?? '', /can never be of type/);
});
