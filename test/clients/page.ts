import path from 'node:path';
import type { TestContext } from 'node:test';
import { build } from 'esbuild';
import { openPage } from '../helpers/chromium.ts';
import { servePages } from '../helpers/local-server.ts';
import { fileScope } from '../helpers/scope.ts';
import { Program } from './program.ts';

const file = fileScope();
let serving: Promise<string> | undefined;

/** @returns the origin of all pages: another one than that of the gateway, if only by its port */
export const pagesOrigin = (): Promise<string> => (serving ??= servePages(file));

/**
 * Opens a component of `pages/` in Chromium. Needs 'chromium'.
 *
 * @param surroundings what it finds as `SURROUNDINGS`
 */
export async function openReactPage(t: TestContext, name: string, surroundings: object): Promise<Program> {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, 'pages', `${name}.jsx`)],
    bundle: true,
    jsx: 'automatic',
    format: 'iife',
    define: { SURROUNDINGS: JSON.stringify(surroundings), 'process.env.NODE_ENV': '"production"' },
    write: false,
    logLevel: 'error',
  });
  const page = await openPage(t);
  const program = new Program((line) => {
    page.evaluate((command) => globalThis.obey(command), line).catch((error) => program.fail(String(error)));
  });
  page.on('pageerror', (error) => program.fail(String(error)));
  await page.exposeFunction('tell', (line: string) => program.take(line));
  await page.goto(await pagesOrigin());
  await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
  await page.waitForFunction(() => 'obey' in globalThis);
  return program;
}

declare global {
  /** The function of the page by which a test has it do something. */
  var obey: (line: string) => void;
}
