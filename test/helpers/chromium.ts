import type { TestContext } from 'node:test';
import { chromium as launcher, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { CHROMIUM_FLAGS } from '../../loadtest/report/chromium.ts';
import { fileScope } from './scope.ts';

/** The limit of waits for results that never come: a busy machine may take many times as long as a quiet one. */
const PATIENCE_MS = 120_000;

const file = fileScope();
let launching: Promise<Browser> | undefined;

/**
 * A page that is closed with the test, without cookies or cache of other pages. All tests of a file share the browser,
 * which takes a second to start. Needs 'chromium'.
 */
export async function openPage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
  const browser = await (launching ??= launch());
  const page = await browser.newPage(options);
  t.after(() => page.close());
  page.setDefaultTimeout(PATIENCE_MS);
  return page;
}

async function launch(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] || '/usr/bin/chromium';
  const args = [...CHROMIUM_FLAGS];
  const browser = await launcher.launch({ executablePath, args, timeout: PATIENCE_MS });
  file.after(() => browser.close());
  return browser;
}
