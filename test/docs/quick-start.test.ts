import { test } from 'node:test';
import { needs } from '../helpers/services.ts';
import { Page } from './markdown.ts';
import { tryPage } from './page-run.ts';

test('the quick start of the README works, word for word', needs('curl'), async (t) => {
  await tryPage(t, await Page.read('README.md'));
});
