import assert from 'node:assert/strict';
import path from 'node:path';
import { it, type TestContext } from 'node:test';
import { checkGraph } from '../../../../src/graph/loader/check-graph.ts';
import { graphFolder } from '../graph-folder.ts';

/** What is wrong, a schema with it (and code), what is said, and a part of the hint. */
export type Case = readonly [
  name: string,
  schema: string,
  said: readonly string[],
  hint: string,
  code?: string,
];

/** `file:line:column severity: message` of each thing found, and the hints beside. */
export async function check(t: TestContext, schema: string, code?: string) {
  const folder = await graphFolder(t, { 'schema.graphql': schema, ...(code && { 'graph.js': code }) });
  const found = await checkGraph(folder);
  return {
    lines: found.map(
      ({ file, line, column, severity, message }) =>
        `${path.relative(folder, file)}:${line}:${column} ${severity}: ${message}`,
    ),
    hints: found.map(({ hint }) => hint).join('\n'),
  };
}

/** A graph.js with this definition. */
export const graphJs = (definition: string) => `import { defineGraph } from 'sluice';
export default defineGraph(${definition});
`;

/** A schema with one subscription field; its directives stand on line 3. */
export const bid = (directives: string, args = '(auction_id: ID!)') => `type Subscription {
  bid_placed${args}: Bid
    ${directives}
}
type Bid { auction_id: ID, amount: Int, note: String, tags: [String], open: Boolean, state: State, seller: Seller, sellers: [Seller] }
type Seller { id: ID, name: String }
enum State { OPEN SOLD }
input Range { from: Int }
`;

/** A test for each case. */
export function testCases(cases: readonly Case[]): void {
  for (const [name, schema, said, hint, code] of cases) {
    it(`points at ${name}`, async (t) => {
      const { lines, hints } = await check(t, schema, code);
      assert.deepEqual(lines, said);
      assert.ok(hints.includes(hint), hints);
    });
  }
}
