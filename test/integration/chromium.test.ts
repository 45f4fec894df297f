import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage } from '../helpers/chromium.ts';
import { needs } from '../helpers/services.ts';

test('The browser of the tests runs the scripts of a page', needs('chromium'), async (t) => {
  const page = await openPage(t);
  await page.setContent('<p>before</p><script>document.querySelector("p").textContent = "after"</script>');
  assert.equal(await page.textContent('p'), 'after');
});
