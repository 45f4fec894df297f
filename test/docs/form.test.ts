import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { manual, Page, pagesBelow, ROOT } from './markdown.ts';

const MAX_README_LINES = 150;
const MAX_PAGE_LINES = 199;
const MAX_IMAGE_BYTES = 200_000;

/** Pages of which the code writes a part, or is compared with it: scripts/docs-tables.mjs. */
const GENERATED = new Set([
  'docs/reference/settings.md',
  'docs/reference/metrics.md',
  'docs/reference/directives.md',
]);

/** Folders at the top, and those of src, as pages name files in them. */
const FOLDERS =
  /^(src|test|loadtest|scripts|deploy|docs|examples|babel-plugins|backends|bus|context|events|executor|graph|hub|ingest|lazy|server|support|transports|workers)\//;

const REASON = /^\w.{10,}/s;

const NEWCOMERS_WORDS =
  'present state|compression|helm|presence|hooks|nats|postgres|publishing|federation|formats|load balancer|queries|tls'.split(
    '|',
  );

/** What the load test writes. */
const NOT_COMMITTED = /^loadtest\/out(\/|$)/;

test('every link leads to a file, to a heading in it, or to an address on the web', async () => {
  const pages = new Map<string, Page>();
  for (const name of await pagesBelow()) pages.set(name, await Page.read(name));
  const broken: string[] = [];
  let checked = 0;
  for (const page of pages.values()) {
    for (const { target, kind } of page.links) {
      checked += 1;
      if (/^https?:/.test(target)) {
        if (!URL.canParse(target)) broken.push(`${page.name}: ${target}`);
        continue;
      }
      const [file = '', anchor] = target.split('#');
      const name = file === '' ? page.name : path.join(path.dirname(page.name), file);
      const isThere =
        existsSync(path.join(ROOT, name)) && (kind === 'link' || statSync(path.join(ROOT, name)).isFile());
      const hasAnchor = anchor === undefined || pages.get(name)?.anchors.has(anchor) === true;
      if (!isThere || !hasAnchor) broken.push(`${page.name}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(checked > 150, `expected all links to be found, got ${checked}`);
});

test('the index lists every page', async () => {
  const linked = new Set<string>();
  for (const name of ['docs/README.md', 'docs/adr/README.md', 'docs/guides/clients/README.md']) {
    for (const { target } of (await Page.read(name)).links) linked.add(path.join(path.dirname(name), target));
  }
  assert.deepEqual(
    (await pagesBelow('docs')).filter((name) => !linked.has(name) && name !== 'docs/README.md'),
    [],
  );
});

test('the FAQ answers each word that newcomers look for, in the order of the alphabet, and says where to read on', async () => {
  const rows = (await Page.read('docs/guides/faq.md')).rows();
  const words = rows.map(([word = '']) => word.replaceAll(/[`@]/g, '').toLowerCase());
  assert.deepEqual(words, words.toSorted());
  const missing = NEWCOMERS_WORDS.filter((each) => !words.some((word) => word.includes(each)));
  assert.deepEqual(missing, []);
  for (const [word, answer] of rows) assert.match(answer ?? '', /\]\(|^None[.:]/, word);
});

test('the README and the pages are no longer than a few screens', async () => {
  for (const page of await manual()) {
    if (GENERATED.has(page.name)) continue;
    const most = page.name === 'README.md' ? MAX_README_LINES : MAX_PAGE_LINES;
    assert.ok(page.lines <= most, `${page.name}: expected at most ${most} lines, got ${page.lines}`);
  }
});

test('pictures are small files', async () => {
  const pictures = (await manual()).flatMap((page) =>
    page.links
      .filter(({ kind }) => kind === 'image')
      .map(({ target }) => path.join(ROOT, path.dirname(page.name), target)),
  );
  assert.ok(pictures.length >= 3);
  for (const picture of pictures) assert.ok(statSync(picture).size <= MAX_IMAGE_BYTES, picture);
});

test('files and folders that pages name exist, seen from the top of the repository or from src', async () => {
  const pages = [...(await manual()), await Page.read('CONTRIBUTING.md')];
  const missing: string[] = [];
  let checked = 0;
  for (const page of pages) {
    for (const code of page.codes.filter((each) => FOLDERS.test(each) && !/[\s*<…]/.test(each))) {
      if (NOT_COMMITTED.test(code)) continue;
      checked += 1;
      if (![code, path.join('src', code)].some((file) => existsSync(path.join(ROOT, file))))
        missing.push(`${page.name}: ${code}`);
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(checked > 60, `expected the files of the architecture to be found, got ${checked}`);
});

test('clients of pages go on after handshakes were refused, other than in tests', async () => {
  const missing: string[] = [];
  let checked = 0;
  for (const page of await manual()) {
    for (const { text, line } of page.blocks) {
      if (!text.includes(' createClient(') || text.includes("from 'node:test'")) continue;
      checked += 1;
      for (const option of ['shouldRetry: () => true', 'retryAttempts: Infinity'])
        if (!text.includes(option)) missing.push(`${page.name}:${line}: ${option}`);
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(checked > 8, `expected all such blocks to be found, got ${checked}`);
});

test('a page with commands of a checkout says what they are with the package', async () => {
  const pages = (await manual()).filter(({ blocks }) =>
    blocks.some(({ text }) => /\bnpm start\b/.test(text)),
  );
  assert.deepEqual(
    pages.filter(({ text }) => !text.includes('`npx sluice')).map(({ name }) => name),
    [],
  );
  assert.ok(pages.length > 12, `expected all such pages to be found, got ${pages.length}`);
});

test('a block that is not run says why: what is missing, or what else tries it', async (t) => {
  for (const page of await manual()) {
    for (const { notRun, line } of page.blocks) {
      if (notRun === undefined) continue;
      assert.match(notRun, REASON, `${page.name}:${line}`);
      t.diagnostic(`${page.name}:${line} is not run: ${notRun}`);
    }
  }
});

test('every decision has a status, and the index gives the same one', async () => {
  const index = await Page.read('docs/adr/README.md');
  const rows = index.rows();
  const names = (await pagesBelow('docs/adr')).filter((name) => !name.endsWith('README.md'));
  assert.equal(rows.length, names.length);
  for (const [position, name] of names.entries()) {
    const { text } = await Page.read(name);
    const [link, title, status = ''] = rows[position] ?? [];
    assert.ok(link?.includes(path.basename(name)), name);
    assert.equal(text.split('\n')[0], `# ${Number(path.basename(name).slice(0, 4))}. ${title}`);
    const [, own = ''] = /^Status: (accepted|superseded in part by \[\d+\])/m.exec(text) ?? [];
    assert.equal(own.replaceAll(/[[\]]/g, ''), status, name);
  }
});

test('pages say before a block to which file it belongs, and what a client needs in Node.js', async () => {
  const missing: string[] = [];
  let checked = 0;
  for (const page of await manual()) {
    const lines = page.text.split('\n');
    for (const { file, text, line } of page.blocks) {
      const before = lines.slice(0, line).join('\n');
      const wanted = file === undefined ? [] : [`\`${file}\``];
      if (/from 'graphql-ws'/.test(text) && !text.includes('webSocketImpl')) wanted.push('`webSocketImpl`');
      checked += wanted.length;
      missing.push(
        ...wanted.filter((each) => !before.includes(each)).map((each) => `${page.name}:${line}: ${each}`),
      );
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(checked > 10, `expected all such blocks to be found, got ${checked}`);
});
