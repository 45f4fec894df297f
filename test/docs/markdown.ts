import GithubSlugger from 'github-slugger';
import { marked, type Token, type Tokens } from 'marked';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** The repository. */
export const ROOT = path.join(import.meta.dirname, '../../..');

/** What is generated, fetched or written by tests. */
const NOT_OURS = /(^|\/)(node_modules|dist|out|fixtures|\.[^/]+)\//;

/** A fenced block, with what the comments right before it say: `<!-- file: … -->` or `<!-- not run: … -->`. */
export interface Block {
  readonly language: string;
  readonly text: string;
  readonly line: number;
  readonly file: string | undefined;
  readonly notRun: string | undefined;
}

export interface Link {
  readonly target: string;
  readonly kind: 'link' | 'image';
}

/** One Markdown file. */
export class Page {
  /** From the repository on. */
  readonly name: string;
  readonly text: string;
  readonly #tokens: Token[];

  private constructor(name: string, text: string) {
    this.name = name;
    this.text = text;
    this.#tokens = marked.lexer(text);
  }

  static async read(name: string): Promise<Page> {
    return new Page(name, await readFile(path.join(ROOT, name), 'utf8'));
  }

  /** Without the end of the last line. */
  get lines(): number {
    return this.text.trimEnd().split('\n').length;
  }

  /** Only blocks that stand by themselves: in a list or a quotation a test would not see the marks before them. */
  get blocks(): Block[] {
    const blocks: Block[] = [];
    let line = 1;
    let marks = '';
    for (const token of this.#tokens) {
      if (token.type === 'code') {
        const { lang = '', text } = token as Tokens.Code;
        blocks.push({
          language: lang,
          text,
          line,
          file: markOf('file', marks),
          notRun: markOf('not run', marks),
        });
      }
      if (token.type === 'html') marks += token.raw;
      else if (token.type !== 'space') marks = '';
      line += token.raw.split('\n').length - 1;
    }
    const all = this.#all<Tokens.Code>('code').length;
    if (all !== blocks.length)
      throw new Error(`${this.name}: expected no block within a list, got ${all - blocks.length}.`);
    return blocks;
  }

  /** The blocks that are tried. */
  get runBlocks(): Block[] {
    return this.blocks.filter(({ notRun }) => notRun === undefined);
  }

  /** The page whose files its own blocks import: `<!-- files of: docs/… -->`. */
  get filesOf(): string | undefined {
    return markOf('files of', this.text);
  }

  get links(): Link[] {
    return (['link', 'image'] as const).flatMap((kind) =>
      this.#all<Tokens.Link | Tokens.Image>(kind).map(({ href }) => ({ target: href, kind })),
    );
  }

  /** The anchors that GitHub makes of the headings. */
  get anchors(): ReadonlySet<string> {
    const slugger = new GithubSlugger();
    return new Set(this.#all<Tokens.Heading>('heading').map(({ tokens }) => slugger.slug(plain(tokens))));
  }

  /** What stands in backticks, tables included. */
  get codes(): string[] {
    return this.#all<Tokens.Codespan>('codespan').map(({ text }) => text);
  }

  /** Cells of all tables below a heading, or of the whole page, as they are written, row by row; heads left out. */
  rows(heading?: string): string[][] {
    let here = heading === undefined;
    const rows: string[][] = [];
    for (const token of this.#tokens) {
      if (token.type === 'heading' && heading !== undefined)
        here = (token as Tokens.Heading).text === heading;
      if (token.type !== 'table' || !here) continue;
      rows.push(...(token as Tokens.Table).rows.map((cells) => cells.map(({ text }) => text)));
    }
    if (rows.length === 0) throw new Error(`${this.name}: expected a table below ${heading}, found none.`);
    return rows;
  }

  #all<T extends Token>(type: T['type']): T[] {
    const found: T[] = [];
    marked.walkTokens(this.#tokens, (token) => {
      if (token.type === type) found.push(token as T);
    });
    return found;
  }
}

/** Names of all Markdown files of the repository, or of a folder of it. */
export async function pagesBelow(folder = '.'): Promise<string[]> {
  // Not all at once: in folders that are not ours, such as Kafka's, files come and go.
  const entries = await readdir(path.join(ROOT, folder), { withFileTypes: true });
  const found = entries.map((entry): string[] | Promise<string[]> => {
    const name = path.join(folder, entry.name);
    if (NOT_OURS.test(`${name}/`)) return [];
    if (entry.isDirectory()) return pagesBelow(name);
    return name.endsWith('.md') ? [name] : [];
  });
  return (await Promise.all(found)).flat().toSorted();
}

/** The pages for users and operators: what they say is tried. */
export async function manual(): Promise<Page[]> {
  return Promise.all(['README.md', ...(await pagesBelow('docs'))].map((name) => Page.read(name)));
}

/** The text of the first cell without its backticks. */
export function unquoted(cell: string | undefined): string {
  return (cell ?? '').replaceAll('`', '');
}

function markOf(name: string, comments: string): string | undefined {
  return new RegExp(`<!-- ${name}: (.*?) -->`, 's').exec(comments)?.[1];
}

function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token) =>
      'tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? String(token['text']) : '',
    )
    .join('');
}
