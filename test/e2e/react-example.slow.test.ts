import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { ScriptedServer } from '../helpers/scripted-server.ts';
import { needs } from '../helpers/services.ts';
import { openQuietPage } from './quiet-page.ts';
import { serveHttp } from '../helpers/local-server.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../examples/react');

const bid = (n: number) => ({
  data: {
    bid_placed: {
      __typename: 'Bid',
      bid_id: String(n),
      amount: { __typename: 'Price', formatted: `€ ${n}` },
      bidder: { __typename: 'Bidder', display_name: 'A. Okafor' },
    },
  },
  extensions: { cursor: `c${n}` },
});

test(
  'The React page shows each bid once over a lost connection, and says when some may be missing',
  needs('chromium'),
  async (t) => {
    const server = await ScriptedServer.start(t);
    const { page } = await openQuietPage(t, /./);
    const html = await readFile(path.join(FOLDER, 'index.html'), 'utf8');
    const { outputFiles } = await build({
      entryPoints: [path.join(FOLDER, 'page.jsx')],
      bundle: true,
      jsx: 'automatic',
      write: false,
    });
    const script = outputFiles[0]?.text ?? '';
    const address = await serveHttp(t, (request, response) => {
      const isScript = request.url === '/page.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? script : html);
    });
    await page.goto(`${address}/?gateway=${encodeURIComponent(server.url)}&auction=a`);
    const bids = page.locator('li');
    const notice = page.getByRole('status');

    const first = await server.operation();
    assert.equal(first.resume, null);
    first.greet(true, 'c0');
    first.next(bid(1));
    await bids.filter({ hasText: '€ 1 by A. Okafor' }).waitFor();
    first.cut();

    const second = await server.operation();
    assert.equal(second.resume, 'c1');
    second.greet(true, 'c1');
    for (const n of [2, 3]) second.next(bid(n));
    await bids.filter({ hasText: '€ 3' }).waitFor();
    assert.deepEqual(
      await bids.allTextContents(),
      [3, 2, 1].map((n) => `€ ${n} by A. Okafor`),
    );
    assert.equal(await notice.count(), 0);
    second.cut();

    const third = await server.operation();
    assert.equal(third.resume, 'c3');
    third.greet(false, 'c9');
    await notice.filter({ hasText: 'may be missing' }).waitFor();
    third.next(bid(10));
    await bids.filter({ hasText: '€ 10' }).waitFor();
  },
);
