import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { GraphQLError, type GraphQLFieldResolver } from 'graphql';
import { buildGraph } from '../../../../src/graph/loader/build-graph.ts';
import { checkGraph } from '../../../../src/graph/loader/check-graph.ts';
import { loadGraph } from '../../../../src/graph/loader/load-graph.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';

const SCHEMA = `type Subscription { bid: Bid @event(topic: "bids") }
type Bid { amount: Int, note: String }
`;

const GRAPH_TS = `import { defineGraph, type Event } from 'sluice';
import { GraphQLError } from 'graphql';
import DataLoader from 'dataloader';
import { noteOf } from './notes/note.ts';

type Bid = { amount: number };
const loader: unknown = new DataLoader(async (ids: readonly number[]) => ids);
if (!(loader instanceof DataLoader)) throw new Error('no loader');

export default defineGraph({
  resolvers: {
    Bid: {
      note: (bid: Bid): string => noteOf(bid.amount),
      amount: (): never => {
        throw new GraphQLError('refused');
      },
    },
  },
});
export type { Event };
`;

const NOTE_TS = `interface Note {
  text: string;
}

export function noteOf(amount: number): string {
  const note: Note = { text: \`\${amount} bid\` };
  if (amount < 0) throw new RangeError('too low');
  return note.text;
}
`;

const FILES = { 'schema.graphql': SCHEMA, 'graph.ts': GRAPH_TS, 'notes/note.ts': NOTE_TS };

const noteGraph = (note: string): string => `import { defineGraph } from 'sluice';
  export default defineGraph({ resolvers: { Bid: { note: () => ${note} } } });`;

async function resolversOf(folder: string) {
  const { schema } = await loadGraph(folder);
  const type = schema.getType('Bid');
  assert.ok(type && 'getFields' in type);
  return (field: string, source: object): unknown => {
    const resolve = type.getFields()[field] as
      { resolve?: GraphQLFieldResolver<unknown, unknown> } | undefined;
    return resolve?.resolve?.(source, {}, {}, {} as Parameters<GraphQLFieldResolver<unknown, unknown>>[3]);
  };
}

describe('the code of a graph outside the repository', () => {
  for (const [what, files, note] of [
    ['may be TypeScript in several files', {}, '3 bid'],
    [
      'may import ./x.js where TypeScript means x.ts, though an older x.js is there',
      {
        'graph.ts': GRAPH_TS.replace('./notes/note.ts', './notes/note.js'),
        'notes/note.js': 'export const noteOf = () => "old";',
      },
      '3 bid',
    ],
    ['is taken from graph.ts before graph.js', { 'graph.js': 'throw new Error("old")' }, '3 bid'],
    [
      'is a module, for any type in the package.json beside it',
      {
        'graph.ts': undefined,
        'graph.js': noteGraph(`'a module'`),
        'package.json': '{ "type": "commonjs" }',
      },
      'a module',
    ],
    [
      'may use CommonJS packages that the folder has installed',
      {
        'graph.ts': undefined,
        'graph.js': `import { word } from 'words'; ${noteGraph('word')}`,
        'node_modules/words/package.json': '{ "name": "words", "main": "index.js" }',
        'node_modules/words/index.js': `exports.word = 'yes';`,
      },
      'yes',
    ],
  ] as const) {
    it(what, async (t) => {
      const given = Object.entries({ ...FILES, ...files }).filter(([, text]) => text !== undefined);
      const folder = await graphFolder(t, Object.fromEntries(given) as Record<string, string>);
      assert.equal((await resolversOf(folder))('note', { amount: 3 }), note);
    });
  }

  it('shares graphql with the gateway, even where it has a copy of its own', async (t) => {
    const own = {
      'node_modules/graphql/package.json': '{ "name": "graphql", "main": "index.js" }',
      'node_modules/graphql/index.js': 'exports.GraphQLError = class extends Error {};',
      'node_modules/library/package.json': '{ "name": "library", "type": "module", "main": "index.js" }',
      'node_modules/library/index.js': `export { GraphQLError } from 'graphql';`,
    };
    const viaLibrary = GRAPH_TS.replace(`from 'graphql'`, `from 'library'`);
    for (const graph of [GRAPH_TS, viaLibrary]) {
      const resolve = await resolversOf(await graphFolder(t, { ...FILES, ...own, 'graph.ts': graph }));
      assert.throws(() => resolve('amount', {}), GraphQLError);
    }
  });

  it('names lines of the TypeScript in stacks', async (t) => {
    const folder = await graphFolder(t, FILES);
    const resolve = await resolversOf(folder);
    const file = path.join(await realpath(folder), 'notes/note.ts');
    assert.throws(
      () => resolve('note', { amount: -1 }),
      (error: Error) => {
        assert.match(error.stack ?? '', /notes\/note\.ts:7:\d+/);
        assert.ok(
          error.stack?.includes(file) || error.stack?.includes(pathToFileURL(file).href),
          error.stack,
        );
        return error instanceof RangeError;
      },
    );
  });

  it('names lines of the TypeScript without --enable-source-maps as well', async (t) => {
    const folder = await graphFolder(t, { ...FILES, 'notes/note.ts': `${NOTE_TS}throw new Error('here');` });
    const module = new URL('../../../../src/graph/loader/load-graph.js', import.meta.url).href;
    const script = `import { loadGraph } from '${module}'; await loadGraph('${folder}').catch((error) => console.log(error.message))`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    assert.match(stdout, /notes\/note\.ts:10:7: error: .*here/);
  });

  it('is pointed at where it is not TypeScript, or imports a missing file', async (t) => {
    for (const [name, text, place, message] of [
      ['notes/note.ts', 'export const a = ;\n', '1:18', /Unexpected token/],
      ['graph.ts', `\nimport { nothing } from 'sluice';\nnothing();\n`, '2:1', /nothing/],
      ['graph.ts', `import './nothing.ts';\n`, '1:8', /got '\.\/nothing\.ts'$/],
      ['graph.ts', `\nimport './notes/note';\n`, '2:8', /; there is '\.\/notes\/note\.ts'$/],
      [
        'notes/note.ts',
        `import '../notes';\n`,
        '1:8',
        /the name of a file, with its ending, got '\.\.\/notes'/,
      ],
    ] as const) {
      const folder = await graphFolder(t, { ...FILES, [name]: text });
      const [found] = await checkGraph(folder);
      assert.match(found?.message ?? '', message);
      assert.equal(
        `${path.relative(folder, found?.file ?? '')}:${found?.line}:${found?.column}`,
        `${name}:${place}`,
      );
    }
  });
});

describe('buildGraph', () => {
  it('writes what a gateway loads to a folder of its own, TypeScript compiled', async (t) => {
    const folder = await graphFolder(t, {
      ...FILES,
      'types.d.ts': 'export type A = 1;',
      'schema.types.ts': 'export type A = 1;',
      'graph.test.ts': 'no code',
      'test/graph.ts': 'no code',
      'vitest.config.ts': 'no code',
      'notes/rates.json': '{}',
      'package.json': '{}',
      'node_modules/x/index.ts': 'export const x: number = 1;',
    });
    const before = await readdir(folder);
    const expected = ['graph.js', 'notes/note.js', 'notes/rates.json', 'schema.graphql'];
    for (const output of [undefined, path.join(await temporaryFolder(t), 'new/folder')]) {
      const written = await buildGraph(folder, output);
      const target = output ?? path.join(folder, 'dist');
      assert.deepEqual(
        written.map((file) => path.relative(target, file)),
        expected,
      );
    }
    assert.deepEqual(await readdir(folder), [...before, 'dist'].toSorted());
    const resolve = await resolversOf(path.join(folder, 'dist'));
    assert.equal(resolve('note', { amount: 3 }), '3 bid');
    assert.throws(
      () => resolve('note', { amount: -1 }),
      (error: Error) => /notes\/note\.ts:7:\d+/.test(error.stack ?? ''),
      'the stack names the line of the source, by the source map within',
    );
  });

  it('does not write into the graph itself, nor above it', async (t) => {
    const folder = await graphFolder(t, FILES);
    for (const output of [folder, path.dirname(folder), path.join(folder, 'dist/..')]) {
      const refusal = { code: 'BAD_GRAPH', message: /does not hold the graph/ };
      await assert.rejects(buildGraph(folder, output), refusal);
    }
  });

  it('refuses a file that is not TypeScript, with its place, and then writes nothing', async (t) => {
    const folder = await graphFolder(t, { ...FILES, 'notes/note.ts': 'let a: = 1;' });
    const refusal = { code: 'BAD_GRAPH', message: /note\.ts:1:8: Unexpected token/ };
    await assert.rejects(buildGraph(folder), refusal);
    assert.ok(!existsSync(path.join(folder, 'dist')));
  });

  it('refuses a folder that does not exist', async () => {
    await assert.rejects(buildGraph('/nowhere/graph'), { code: 'BAD_GRAPH', message: /ENOENT/ });
  });
});
