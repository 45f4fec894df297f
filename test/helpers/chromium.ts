import type { TestContext } from 'node:test';
import { chromium as launcher, type Browser } from 'playwright-core';

/** Rootless sandboxes are missing in containers; the rest keeps it from calling home. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser that is closed with the test. Needs 'chromium'. */
export async function chromium(t: TestContext): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] || '/usr/bin/chromium';
  const browser = await launcher.launch({ executablePath, args: FLAGS });
  t.after(() => browser.close());
  return browser;
}
