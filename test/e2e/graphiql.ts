import type { TestContext } from 'node:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { openPage } from '../helpers/chromium.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';

/** GraphiQL as a user sees and handles it. */
export class Graphiql {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  static async open(
    t: TestContext,
    gateway: GatewayProcess,
    options?: BrowserContextOptions,
  ): Promise<Graphiql> {
    const page = await openPage(t, options);
    await page.goto(`http://localhost:${gateway.port}/`);
    await page.locator('.graphiql-query-editor').filter({ hasText: '# Press play' }).waitFor();
    return new Graphiql(page);
  }

  get playButton(): Locator {
    return this.page.getByRole('button', { name: 'Execute query' });
  }

  get stopButton(): Locator {
    return this.page.getByRole('button', { name: 'Stop query' });
  }

  /** The one that GraphiQL itself shows: of the operation, or an error. */
  get result(): Locator {
    return this.page.locator('.result-window');
  }

  get state(): Locator {
    return this.page.getByRole('status');
  }

  get list(): Locator {
    return this.page.getByRole('list', { name: 'Results' });
  }

  get entries(): Locator {
    return this.list.getByRole('listitem');
  }

  get spinner(): Locator {
    return this.page.locator('.graphiql-spinner');
  }

  async setHeaders(headers: object): Promise<void> {
    await this.page.getByRole('button', { name: 'Headers' }).click();
    const editor = this.page.locator('.graphiql-editor:not(.hidden)').nth(1);
    await editor.click();
    await this.page.keyboard.insertText(JSON.stringify(headers));
  }
}
