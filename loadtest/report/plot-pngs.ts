import path from 'node:path';
import { CHROMIUM_FLAGS, findChromium } from './chromium.ts';
import { PLOTS } from './plot-series.ts';

const WIDTH = 1_200;
const SHARPNESS = 2;

/**
 * Draws each plot of a page, all runs side by side, as `<plot>.png` in the folder.
 *
 * @returns the files' paths; throws if there is no browser
 */
export async function drawPngs(page: string, folder: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const executablePath = findChromium(env);
  if (executablePath === undefined)
    throw new Error('expected Chromium on the PATH or in CHROMIUM, found none');
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: [...CHROMIUM_FLAGS] });
  try {
    const tab = await browser.newPage({
      viewport: { width: WIDTH, height: 800 },
      deviceScaleFactor: SHARPNESS,
      colorScheme: 'light',
    });
    await tab.setContent(page);
    // A picture has no pointer, so it shows no values; and it wants a margin.
    await tab.addStyleTag({ content: '.value { display: none; } .plot { padding: 1rem; }' });
    const files: string[] = [];
    for (const { id } of PLOTS) {
      const file = path.join(folder, `${id}.png`);
      await tab.locator(`[data-plot="${id}"]`).screenshot({ path: file });
      files.push(file);
    }
    return files;
  } finally {
    await browser.close();
  }
}
