import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { page } from './report-page.ts';
import { drawPngs } from './plot-pngs.ts';
import type { Report } from './report.ts';

/** The default folder of results: in the repository's sources, not in what is built from them. */
export const OUT = path.resolve(import.meta.dirname, '../../../loadtest/out');

/** `loadtest/out/<time>-<commit>`: sorts by time, and is never the folder of another run. */
export function defaultFolder({ created, commit }: Report): string {
  const name = `${created.replace(/\.\d+Z?$/, '').replaceAll(':', '-')}-${commit}`;
  return path.join(OUT, name.replaceAll(/[^\w.-]/g, '-'));
}

export interface SaveOptions {
  /** Called with the path of each file, or with the reason why there is none. */
  readonly say?: (line: string) => void;
  /** Where a browser is looked for. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Writes `report.json`, `report.html` and, if there is a browser, a PNG for each plot.
 *
 * @returns the files' paths
 */
export async function save(
  report: Report,
  folder: string,
  { say = console.log, env = process.env }: SaveOptions = {},
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const json = path.join(folder, 'report.json');
  const html = path.join(folder, 'report.html');
  const content = page(report);
  await writeFile(json, `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(html, content);
  const files = [html, json, ...(await pngs(content, folder, { say, env }))];
  for (const file of files) say(path.relative(process.cwd(), file));
  return files;
}

/** Draws the pictures for the README; a report is complete without them. */
async function pngs(
  content: string,
  folder: string,
  { say, env }: Required<SaveOptions>,
): Promise<readonly string[]> {
  try {
    return await drawPngs(content, folder, env);
  } catch (error) {
    say(`No PNGs: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}
