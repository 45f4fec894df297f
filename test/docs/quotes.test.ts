import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import ts from 'typescript';
import { manual, Page, ROOT } from './markdown.ts';

/** `Log: ` and `Error: `, with one or more quotations behind it. */
const QUOTING = /\b(?:Log|Error): (`[^`]+`(?:(?:,|, and| and|;[^`]*?)?\s+`[^`]+`)*)/g;

/** Every text in the code of src. `…` stands for what is put in. */
const texts: string[] = [];

before(async () => {
  const folder = path.join(ROOT, 'src');
  for (const file of await readdir(folder, { recursive: true })) {
    if (!file.endsWith('.ts')) continue;
    const source = await readFile(path.join(folder, file), 'utf8');
    collect(ts.createSourceFile(file, source, ts.ScriptTarget.Latest));
  }
});

test('log lines and errors that pages quote are texts of the gateway', async () => {
  const quotes = (await manual()).flatMap((page) =>
    [...page.text.matchAll(QUOTING)].flatMap(([, codes = '']) =>
      quotesIn(codes).map((quote) => ({ page, quote })),
    ),
  );
  assert.ok(quotes.length > 20, `expected all quotations to be found, got ${quotes.length}`);
  for (const { page, quote } of quotes) assert.ok(isWritten(quote), `${page.name}: ${quote}`);
});

test('symptoms that the troubleshooting page quotes are texts of the gateway', async () => {
  const symptoms = (await Page.read('docs/guides/troubleshooting.md'))
    .rows()
    .map(([symptom = '']) => symptom);
  const quotes = symptoms.flatMap(quotesIn).filter((quote) => quote.includes(' '));
  assert.ok(quotes.length > 20, `expected all symptoms to be found, got ${quotes.length}`);
  for (const quote of quotes) assert.ok(isWritten(quote), quote);
});

test('the check finds a quotation that the gateway does not write', () => {
  assert.ok(isWritten('Redis is out of reach'));
  assert.ok(!isWritten('Redis is away')); // Comments say so.
});

function quotesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, quote = '']) => quote);
}

/** Is it, or is it part of, a text of the code? `…` in it stands for anything. */
function isWritten(quote: string): boolean {
  const parts = quote.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(parts.join('.*'), 's');
  return texts.some((text) => pattern.test(text));
}

function collect(node: ts.Node): void {
  const text = textOf(node);
  if (text === undefined) ts.forEachChild(node, collect);
  else texts.push(text);
}

/** Returns the text of a literal, a template, or several put together; undefined for anything else. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}
