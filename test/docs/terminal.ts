import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { eventually } from '../helpers/eventually.ts';
import type { Workspace } from './workspace.ts';

/** Runs a page's commands, and compares what they print with what the page says that they do. */
export class Terminal {
  readonly #workspace: Workspace;
  readonly #lines: string[] = [];
  /** So many lines have been compared. */
  #read = 0;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Runs commands to their end; all must succeed. */
  async run(commands: string): Promise<void> {
    const from = this.#lines.length;
    const [code] = (await once(this.start(commands), 'close')) as [number | null];
    assert.equal(code, 0, `${commands}\nended with ${code}:\n${this.#lines.slice(from).join('\n')}`);
  }

  /** Starts what runs until the page ends. */
  start(commands: string): ReturnType<Workspace['spawn']> {
    const child = this.#workspace.spawn(commands);
    this.#record(child.stdout);
    this.#record(child.stderr);
    return child;
  }

  /** Each line is printed, in this order; others may stand between. */
  async untilPrinted(text: string): Promise<void> {
    await eventually(() => {
      let at = this.#read;
      for (const line of text.split('\n')) {
        const found = this.#lines.indexOf(line, at);
        assert.ok(found !== -1, `expected the line ${JSON.stringify(line)}, got:\n${this.unread}`);
        at = found + 1;
      }
      this.#read = at;
    });
  }

  /** Is a line that has not been compared yet JSON of this value, however it is spaced? If so, it has been now. */
  hasPrintedJson(expected: unknown): boolean {
    const found = this.#lines.findIndex((line, index) => index >= this.#read && isJsonOf(line, expected));
    if (found !== -1) this.#read = found + 1;
    return found !== -1;
  }

  get unread(): string {
    return this.#lines.slice(this.#read).join('\n');
  }

  /** Whole lines, as soon as they are there. */
  #record(stream: Readable): void {
    let rest = '';
    stream.on('data', (chunk: Buffer) => {
      const lines = `${rest}${chunk.toString()}`.split('\n');
      rest = lines.pop() ?? '';
      this.#lines.push(...lines);
    });
    stream.on('end', () => {
      if (rest !== '') this.#lines.push(rest);
    });
  }
}

function isJsonOf(line: string, expected: unknown): boolean {
  try {
    assert.deepEqual(JSON.parse(line), expected);
    return true;
  } catch {
    return false;
  }
}
