import type { TestContext } from 'node:test';
import { chromium as launcher, type Browser } from 'playwright-core';
import { CHROMIUM_FLAGS } from '../../loadtest/report/chromium.ts';

/** A browser that is closed with the test. Needs 'chromium'. */
export async function chromium(t: TestContext): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] || '/usr/bin/chromium';
  const browser = await launcher.launch({ executablePath, args: [...CHROMIUM_FLAGS] });
  t.after(() => browser.close());
  return browser;
}
