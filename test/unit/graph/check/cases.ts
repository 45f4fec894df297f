import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';
import { checkGraph } from '../../../../src/graph/loader/check-graph.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

/** Stands before what is pointed at, in a schema or in code. */
const MARK = /›/g;

/** What is said of each mark in turn: `message`, or `message → a part of the hint`. */
type Said = string | readonly string[];

export type Case = readonly [schema: string, said: Said, code?: string, claims?: readonly string[]];

/** A graph.js with this definition. */
export const graphJs = (definition: string) => `import { defineGraph } from 'sluice';
export default defineGraph(${definition});
`;

/** A schema with one subscription field. */
export const bid = (directives: string, args = '(auction_id: ID!)') => `type Subscription {
  bid_placed${args}: Bid
    ${directives}
}
type Bid { auction_id: ID, amount: Int, note: String, tags: [String], open: Boolean, state: State, seller: Seller, sellers: [Seller] }
type Seller { id: ID, name: String }
enum State { OPEN SOLD }
input Range { from: Int }
`;

/** `file:line:column` of each mark. */
const placesIn = (file: string, text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(MARK)].map((mark, before) => `${file}:${index + 1}:${mark.index - before + 1}`),
    );

/** A test for each case, by what is wrong. */
export function testCases(cases: Readonly<Record<string, Case>>): void {
  for (const [name, [schema, said, code = '', claims]] of Object.entries(cases)) {
    const expected = [said].flat().map((text) => text.split(' → '));
    it(`${expected.length === 0 ? 'finds nothing wrong in' : 'points at'} ${name}`, async (t) => {
      const files = { 'schema.graphql': schema, ...(code !== '' && { 'graph.js': code }) };
      const unmarked = Object.entries(files).map(([file, text]) => [file, text.replace(MARK, '')]);
      const folder = await graphFolder(t, Object.fromEntries(unmarked) as Record<string, string>);
      const found = await checkGraph(folder, { claims });
      const places = Object.entries(files).flatMap(([file, text]) => placesIn(file, text));
      assert.deepEqual(
        found.map(({ file, line, column, severity, message }) => {
          const place = `${path.relative(folder, file)}:${line}:${column}`;
          return `${place} ${severity === 'error' ? '' : `${severity}: `}${message}`;
        }),
        places.map((place, index) => `${place} ${expected[index]?.[0]}`),
      );
      for (const [index, { hint }] of found.entries())
        assert.ok(hint.includes(expected[index]?.[1] ?? ''), hint);
    });
  }
}

/** A test for each of these directives of a subscription field. */
export function testDirectives(said: Readonly<Record<string, Said>>, schemaOf = bid): void {
  const cases = Object.entries(said).map(([directives, text]): [string, Case] => [
    directives.replace(MARK, ''),
    [schemaOf(directives), text],
  ]);
  testCases(Object.fromEntries(cases));
}
