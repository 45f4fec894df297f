import { describe, it } from 'node:test';
import { needs, type Need } from '../helpers/services.ts';
import { manual, type Block } from './markdown.ts';
import { tryPage } from './page-run.ts';

const NEEDS: readonly { readonly need: Need; readonly by: RegExp }[] = [
  { need: 'kafka', by: /scripts\/services up/ },
  { need: 'redis', by: /scripts\/services up/ },
  { need: 'kcat', by: /\bkcat\b/ },
  { need: 'curl', by: /\bcurl\b/ },
  { need: 'kubectl', by: /\bkubectl\b|npm run -s policy\b/ },
];

/** That of the README is a fast test: quick-start. */
const pages = (await manual()).filter(({ name, runBlocks }) => name !== 'README.md' && runBlocks.length > 0);

/** Pages wait for processes most of the time. */
describe('the commands and snippets of a page work as the page says', { concurrency: 2 }, () => {
  for (const page of pages) it(page.name, needs(...wanted(page.runBlocks)), (t) => tryPage(t, page));
});

function wanted(blocks: readonly Block[]): Need[] {
  const text = blocks.filter(({ language }) => language === 'sh').map((block) => block.text);
  return NEEDS.filter(({ by }) => text.some((each) => by.test(each))).map(({ need }) => need);
}
