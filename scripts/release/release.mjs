/**
 * `npm run release -- <version>`: writes the version and the changelog's heading, commits and tags them, packs the
 * tarball, and lists its files.
 * Publishes nothing: it prints the commands by which a person publishes the gateway and its client.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../ensure.mjs';
import { readArguments } from '../lib/arguments.mjs';

/** Pages that name the tarballs. */
const PAGES = ['docs/guides/package.md', 'scripts/release/package-readme.md'];

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;
const UNRELEASED = /^## Unreleased\n+(.*?)(?=^## |(?![^]))/ms;

const [version = ''] = readArguments('Usage: npm run release -- <version>', { words: 1 }).positionals;
const changelog = path.join(root, 'CHANGELOG.md');
const manifest = path.join(root, 'package.json');

const current = JSON.parse(readFileSync(manifest, 'utf8')).version;
if (!isNext(version))
  fail(`expected a version that follows ${current} (the next major, minor or patch), got '${version}'`);
if (git('status', '--porcelain') !== '') fail('expected a clean work tree, got changes; commit them first');
const text = readFileSync(changelog, 'utf8');
const notes = UNRELEASED.exec(text)?.[1]?.trim() ?? '';
if (notes === '') fail('expected changes below "## Unreleased" in CHANGELOG.md, found none');

const day = new Date().toISOString().slice(0, 10);
writeFileSync(
  changelog,
  text.replace('## Unreleased\n', () => `## Unreleased\n\n## ${version} – ${day}\n`),
);
writeFileSync(
  manifest,
  readFileSync(manifest, 'utf8').replace(`"version": "${current}"`, `"version": "${version}"`),
);
for (const page of PAGES.map((name) => path.join(root, name)))
  writeFileSync(page, readFileSync(page, 'utf8').replaceAll(`-${current}.tgz`, `-${version}.tgz`));
git('commit', '--quiet', '--all', '--message', `Release ${version}`);
const tarballs = written('pack.mjs');
const [sbom] = written('sbom.mjs');
const notesFile = path.join(root, '.release', `notes-${version}.md`);
writeFileSync(notesFile, `${notes}\n`);
git('tag', '--annotate', `v${version}`, '--cleanup=verbatim', '--file', notesFile);
console.log(`Release ${version} is prepared. To publish it:

  git push --follow-tags
${tarballs.map((tarball) => `  npm publish ${relative(tarball)}`).join('\n')}

Its notes: ${relative(notesFile)}
What it consists of (SBOM): ${relative(sbom)}`);

/** In the next semantic version, one number is one higher, and the numbers behind it are 0. */
function isNext(next) {
  const [, major, minor, patch] = VERSION.exec(current)?.map(Number) ?? [];
  return [`${major + 1}.0.0`, `${major}.${minor + 1}.0`, `${major}.${minor}.${patch + 1}`].includes(next);
}

function relative(file) {
  return path.relative(process.cwd(), file);
}

/** @returns the paths of files that another script of this folder has written */
function written(script) {
  const file = path.join(import.meta.dirname, script);
  const printed = execFileSync(process.execPath, [file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return printed.trim().split('\n');
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
