import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { writeTypes } from '../../src/graph/codegen/write-types.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { asProject, typecheck } from '../helpers/typecheck.ts';
import { manual, type Page } from './markdown.ts';

/** A package that test/package installs, and this project does not. */
const ELSEWHERE = /from 'vitest'/;

/** What a reader puts into a project that checks types: each graph in a folder of its own, with the page's other files. */
async function writeCode(page: Page, root: string): Promise<number> {
  const code = page.blocks.filter(
    ({ language, text }) => language === 'ts' && /^(im|ex)port /m.test(text) && !ELSEWHERE.test(text),
  );
  const graphs = code.filter(({ file }) => file === undefined);
  for (const { line, text } of graphs) {
    const folder = path.join(root, `${page.name.replaceAll('/', '-')}-${line}`);
    await mkdir(folder);
    await writeFile(path.join(folder, 'graph.ts'), text);
    if (text.includes(`'./schema.types.ts'`)) {
      await writeFile(path.join(folder, 'schema.graphql'), schemaOf(page));
      await writeTypes(folder);
    }
    for (const { file, text: other } of code) {
      if (file !== undefined) await writeFile(path.join(folder, path.basename(file)), other);
    }
  }
  return graphs.length;
}

function schemaOf({ name, blocks }: Page): string {
  const schema = blocks.find(({ text }) => text.includes('type Subscription'));
  if (schema === undefined)
    throw new Error(`${name}: expected a schema beside a graph with types of it, found none.`);
  return schema.text;
}

test('the TypeScript of all pages has correct types, as strict projects check them', async (t) => {
  const root = await temporaryFolder(t);
  await asProject(root);
  let written = 0;
  for (const page of await manual()) written += await writeCode(page, root);
  assert.equal(await typecheck(root), '');
  assert.ok(written >= 8, `expected the pages' graphs, got ${written}`);
});
