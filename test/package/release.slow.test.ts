import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Sbom } from '../helpers/package/sbom.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** What a release packs; it would be built anew if it were older than the clone. */
const BUILT = ['babel-plugins', 'examples', 'graphiql', 'src'];

/** The repository as it is committed, with what is installed and built here. */
async function clone(t: TestContext): Promise<string> {
  const folder = path.join(await temporaryFolder(t), 'sluice');
  await run('git', ['clone', '--quiet', ROOT, folder]);
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  for (const name of BUILT)
    await cp(path.join(ROOT, 'dist', name), path.join(folder, 'dist', name), { recursive: true });
  await git(folder, 'config', 'user.name', 'a person');
  await git(folder, 'config', 'user.email', 'person@example.com');
  // The link is no folder, which is what is ignored.
  await writeFile(path.join(folder, '.git/info/exclude'), 'node_modules\n');
  return folder;
}

async function git(folder: string, ...args: readonly string[]): Promise<string> {
  return (await run('git', args, { cwd: folder })).stdout.trim();
}

const release = (folder: string, version: string) =>
  run(process.execPath, [path.join(folder, 'scripts/release/release.mjs'), version], { cwd: folder });

test('a release is a commit, a tag with the notes, and the tarballs of gateway and client; and publishes nothing', async (t) => {
  const folder = await clone(t);
  const before = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as { version: string };
  const [major, minor] = before.version.split('.').map(Number);
  const next = `${major}.${Number(minor) + 1}.0`;
  const { stdout } = await release(folder, next);
  const after = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as object;
  assert.deepEqual(after, { ...before, version: next });
  for (const page of ['docs/guides/package.md', 'scripts/release/package-readme.md'])
    assert.match(await readFile(path.join(folder, page), 'utf8'), RegExp(`\\./sluice-${next}\\.tgz`));
  const changelog = await readFile(path.join(folder, 'CHANGELOG.md'), 'utf8');
  assert.match(
    changelog,
    new RegExp(`^## Unreleased\n\n## ${next.replaceAll('.', '\\.')} – \\d{4}-\\d\\d-\\d\\d\n`, 'm'),
  );
  assert.match(await git(folder, 'tag', '--list', '--format=%(contents)', `v${next}`), /^### Added/);
  assert.equal(await git(folder, 'log', '-1', '--format=%s'), `Release ${next}`);
  assert.equal(await git(folder, 'status', '--porcelain'), '');
  for (const tarball of [`.release/sluice-${next}.tgz`, `.release/sluice-client-${next}.tgz`]) {
    assert.ok(stdout.includes(`  npm publish ${tarball}\n`), stdout);
    assert.ok(existsSync(path.join(folder, tarball)));
  }
  assert.match(stdout, /\(SBOM\): \.release\/sluice-/);
  const sbom = await Sbom.read(path.join(folder, `.release/sluice-${next}.cdx.json`));
  assert.equal(sbom.document.metadata.component.version, next);
  // Nothing has changed since.
  await assert.rejects(release(folder, `${next.slice(0, -1)}1`), /expected changes below/);
});

test('a version that does not follow, or a work tree with changes, is refused, and nothing is written', async (t) => {
  const folder = await clone(t);
  const before = await git(folder, 'rev-parse', 'HEAD');
  for (const version of ['', 'v1', '9.9.9', '0.1.0']) {
    await assert.rejects(release(folder, version), /expected a version that follows/, version);
  }
  assert.equal(await git(folder, 'status', '--porcelain'), '');
  await writeFile(path.join(folder, 'new'), '');
  await assert.rejects(release(folder, '1.0.0'), /expected a clean work tree/);
  assert.equal(await git(folder, 'rev-parse', 'HEAD'), before);
});
