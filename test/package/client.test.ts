import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build, type BuildOptions, type BuildResult } from 'esbuild';
import ts from 'typescript';
import { Page } from '../docs/markdown.ts';
import { fileScope } from '../helpers/scope.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

/** What docs/guides/resume.md promises. */
const MOST_BYTES = 2048;

/** What a page in TypeScript does with it. */
const TYPED = `
  import { createClient, type Client } from 'graphql-ws';
  import { resumable, type Gap, type Skipped } from 'sluice-client';

  const client: Client = resumable(createClient({ url: 'ws://localhost:4000/graphql' }), {
    onGap({ payload, reason, topic, at }) {
      const query: string = payload.query;
      console.log(query, reason === 'reconnect', topic?.length, at?.toFixed());
    },
    onSkipped: ({ skipped }: Skipped) => console.log(skipped.toFixed()),
  });
  const reasons: Record<Gap['reason'], string> = { reconnect: 'lost', gap: 'told' };
  console.log(client, reasons);
  // @ts-expect-error a page has to say what is to happen where events may be missing
  resumable(client, {});
`;

const scope = fileScope();

function faultsOf(program: ts.Program): string[] {
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

async function manifestIn(folder: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
}

describe('sluice-client, installed beside nothing but graphql-ws', () => {
  let project: string;
  let installed: string;

  before(async () => {
    project = await temporaryFolder(scope);
    const { packClient } = (await import(path.join(ROOT, 'scripts/release/client.mjs'))) as {
      packClient: (release: string) => Promise<string>;
    };
    const tarball = await packClient(path.join(project, 'release'));
    await writeFile(path.join(project, 'package.json'), '{"name":"page","private":true,"type":"module"}');
    // No registry is asked: graphql-ws, and graphql, which it wants as a peer, are those that are installed here.
    const others = ['graphql-ws', 'graphql'].map((name) => path.join(ROOT, 'node_modules', name));
    const options = ['--offline', '--install-links', '--ignore-scripts', '--no-audit', '--no-fund'];
    await promisify(execFile)('npm', ['install', ...options, tarball, ...others], { cwd: project });
    installed = path.join(project, 'node_modules/sluice-client');
  });

  async function bundle(contents: string, options?: BuildOptions): Promise<string> {
    const stdin = { contents, resolveDir: project };
    const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', write: false, ...options });
    return outputFiles?.[0]?.text ?? '';
  }

  it('brings no other package, and has the version of the gateway', async () => {
    const folders = await readdir(path.join(project, 'node_modules'));
    assert.deepEqual(folders.filter((name) => !name.startsWith('.')).toSorted(), [
      'graphql',
      'graphql-ws',
      'sluice-client',
    ]);
    const manifest = await manifestIn(installed);
    const { version, license } = await manifestIn(ROOT);
    assert.deepEqual([manifest['version'], manifest['license']], [version, license]);
    // Without it some bundlers keep a module of which nothing is used.
    assert.equal(manifest['sideEffects'], false);
    const wanted = ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundleDependencies'];
    assert.deepEqual(
      wanted.filter((field) => field in manifest),
      [],
    );
    const files = await readdir(installed, { recursive: true });
    assert.deepEqual(files.toSorted(), [
      'LICENSE',
      'README.md',
      'dist',
      'dist/client.d.ts',
      'dist/client.js',
      'dist/gap.d.ts',
      'dist/graphql-ws.d.ts',
      'dist/skipped.d.ts',
      'package.json',
    ]);
  });

  it(`is less than ${MOST_BYTES} bytes, minified and compressed, and nothing where it is not used`, async () => {
    const bytes = gzipSync(await bundle(`export * from 'sluice-client'`, { minify: true })).length;
    assert.ok(bytes > 300, `it is in the bundle: ${bytes} bytes`);
    assert.ok(bytes < MOST_BYTES, `it is ${bytes} bytes`);
    assert.equal(await bundle(`import { resumable } from 'sluice-client'`), '');
  });

  it('is imported by name in Node.js', async () => {
    const program = `import * as client from 'sluice-client'; console.log(Object.keys(client).join());`;
    const options = ['--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: project });
    assert.equal(stdout, 'resumable\n');
  });

  it('has types for a client of graphql-ws', async () => {
    const lib = ['lib.es2020.d.ts', 'lib.dom.d.ts'];
    const program = await compiled(TYPED, { lib, moduleResolution: ts.ModuleResolutionKind.Bundler });
    assert.deepEqual(faultsOf(program), []);
  });

  it('has types that need no other package and no browser, and that are found without `exports` too', async () => {
    const lib = ['lib.es2020.d.ts'];
    const options = { lib, moduleResolution: ts.ModuleResolutionKind.Node10, skipLibCheck: false };
    const program = await compiled(`export * from 'sluice-client';`, options);
    assert.deepEqual(faultsOf(program), []);
    const files = program.getSourceFiles().filter((file) => !program.isSourceFileDefaultLibrary(file));
    const others = files.filter(({ fileName }) => !fileName.includes('/node_modules/sluice-client/'));
    assert.deepEqual(
      others.map(({ fileName }) => fileName),
      [path.join(project, 'page.ts')],
    );
  });

  async function compiled(code: string, options: ts.CompilerOptions): Promise<ts.Program> {
    const file = path.join(project, 'page.ts');
    await writeFile(file, code);
    return ts.createProgram([file], {
      target: ts.ScriptTarget.ES2020,
      module: ts.ModuleKind.ESNext,
      types: [],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      ...options,
    });
  }

  it('is all of Sluice that the React pages of the docs need', async () => {
    const pages = ['README', 'react'].map((name) => Page.read(`docs/guides/clients/${name}.md`));
    const files = (await Promise.all(pages)).flatMap(({ blocks }) => blocks);
    await mkdir(path.join(project, 'react'));
    const entryPoints: string[] = [];
    for (const { file, text } of files) {
      if (file === undefined) continue;
      const target = path.join(project, 'react', path.basename(file));
      await writeFile(target, text);
      if (file.endsWith('.jsx')) entryPoints.push(target);
    }
    const { metafile }: BuildResult<{ metafile: true }> = await build({
      entryPoints,
      outdir: path.join(project, 'built'),
      absWorkingDir: project,
      bundle: true,
      jsx: 'automatic',
      metafile: true,
      // React, and the other libraries of the pages. The gateway is not there.
      nodePaths: [path.join(ROOT, 'node_modules')],
      logLevel: 'silent',
    });
    assert.deepEqual(Object.keys(metafile.outputs).toSorted(), [
      'built/apollo-page.js',
      'built/graphql-ws-page.js',
    ]);
    for (const { inputs } of Object.values(metafile.outputs))
      assert.ok('node_modules/sluice-client/dist/client.js' in inputs, Object.keys(inputs).join(' '));
  });
});
