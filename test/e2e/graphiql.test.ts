import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { startGateway } from '../helpers/gateway.ts';
import { needs } from '../helpers/services.ts';
import { Graphiql } from './graphiql.ts';
import { openQuietPage } from './quiet-page.ts';

test(
  'GraphiQL shows live events of the prepared subscription, and asks no other host for anything',
  needs('chromium'),
  async (t) => {
    // As `npm start` runs it on a bare machine: without the Kafka and Redis that the environment of the tests names.
    const { port } = await startGateway(t, {});
    const host = `localhost:${port}`;
    const { page, hosts, complaints } = await openQuietPage(t);
    const document = await page.goto(`http://${host}/`);
    const editor = page.locator('.graphiql-query-editor').filter({ hasText: '# Press play' });
    await editor.filter({ hasText: /subscription \w+ \{/ }).waitFor();
    const graphiql = new Graphiql(page);
    await graphiql.playButton.click();

    const result = graphiql.result.filter({ hasText: '"data"' });
    await result.waitFor();
    const first = (await result.textContent()) ?? '';
    await result.filter({ hasNotText: first }).waitFor(); // The next event has taken its place.
    await graphiql.entries.nth(1).waitFor();

    assert.doesNotMatch((await graphiql.result.textContent()) ?? '', /"errors"/);
    await page.getByRole('tab', { name: 'Auctions' }).click();
    await graphiql.entries.first().waitFor({ state: 'detached' }); // They are of the other tab.
    await eventually(async () => {
      const answer = (await graphiql.result.textContent()) ?? '';
      // GraphiQL runs the operation that it knows of, which follows the editor after a moment.
      if (!answer.includes('"data"')) await graphiql.playButton.click();
      assert.match(answer, /"auction_id": "auction-1"/);
    });

    assert.deepEqual([...hosts], [host]);
    assert.deepEqual(complaints, [], 'nor does it break its content security policy');
    assert.match(document?.headers()['content-security-policy'] ?? '', /default-src 'none'/);
    // The policy is in force: the browser complains of a script that someone has got into the page.
    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { text: '0' }))",
    );
    await eventually(() => assert.match(complaints.splice(0).join('\n'), /Content Security Policy/));
  },
);
