import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { needs, type Need } from '../helpers/services.ts';
import { manual, Page, type Block } from './markdown.ts';
import { PageRun } from './page-run.ts';
import { Workspace } from './workspace.ts';

const NEEDS: readonly { readonly need: Need; readonly by: RegExp }[] = [
  { need: 'kafka', by: /scripts\/services up/ },
  { need: 'redis', by: /scripts\/services up/ },
  { need: 'kcat', by: /\bkcat\b/ },
  { need: 'curl', by: /\bcurl\b/ },
  { need: 'kubectl', by: /\bkubectl\b|npm run -s policy\b/ },
];

/** A reason says what is missing, or what else tries the block. */
const REASON = /^\w.{10,}/s;

const pages = (await manual()).filter(({ blocks }) => blocks.length > 0);

/** Pages wait for processes most of the time. */
describe('the commands and snippets of a page work as the page says', { concurrency: 2 }, () => {
  for (const page of pages) {
    const run = page.blocks.filter(({ notRun }) => notRun === undefined);
    it(page.name, needs(...wanted(run)), async (t) => {
      for (const { notRun, line } of page.blocks) {
        if (notRun === undefined) continue;
        assert.match(notRun, REASON, `${page.name}:${line}`);
        t.diagnostic(`${page.name}:${line} is not run: ${notRun}`);
      }
      const name = `docs-${randomUUID().slice(0, 8)}`;
      const workspace = await Workspace.create(t, { KAFKA_GROUP_ID: name, REDIS_PREFIX: `${name}:` });
      const { KAFKA_BROKERS, REDIS_URL } = process.env;
      const session = new PageRun(t, workspace, `KAFKA_BROKERS=${KAFKA_BROKERS} REDIS_URL=${REDIS_URL}`);
      const others = page.filesOf === undefined ? [] : (await Page.read(page.filesOf)).blocks;
      for (const block of [...others.filter(({ file }) => file !== undefined), ...run]) {
        await session.run(block).catch((cause: Error) => {
          throw new Error(`${page.name}:${block.line}: ${cause.message}`, { cause });
        });
      }
      await session.end();
    });
  }
});

function wanted(blocks: readonly Block[]): Need[] {
  const text = blocks.filter(({ language }) => language === 'sh').map((block) => block.text);
  return NEEDS.filter(({ by }) => text.some((each) => by.test(each))).map(({ need }) => need);
}
