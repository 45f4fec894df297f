/** Writes docs/images/graphiql.png: GraphiQL, as `npm start` serves it, while it receives results. Needs Chromium. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { ensureAll, root } from './ensure.mjs';
import { readArguments } from './lib/arguments.mjs';
import { ensureCommands, findCommand } from './lib/commands.mjs';

const QUERY = `subscription Bids {
  bid_placed(auction_id: "auction-1") {
    bid_id
    placed_at
    amount {
      formatted
    }
    bidder {
      paddle_number
      display_name
    }
    bidder_profile {
      city
      auctions_won
    }
  }
}`;

readArguments('Usage: node scripts/docs-picture.mjs');
await ensureAll();
await ensureCommands('chromium');
// The shell's settings are left out: the picture shows the gateway of the README's first command.
const env = { PATH: process.env.PATH, PORT: '0', ADMIN_PORT: '0' };
const gateway = spawn(process.execPath, [path.join(root, 'dist/src/cli.js')], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || findCommand('chromium'),
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 640 } });
  await page.goto(`http://localhost:${await portOf(gateway)}/`);
  const editor = page.locator('.graphiql-query-editor .CodeMirror').first();
  await editor.waitFor();
  await editor.evaluate((element, query) => element.CodeMirror.setValue(query), QUERY);
  // GraphiQL learns of the editor's operation only after a moment, and runs the operation that it knows.
  await page.getByRole('tab', { name: 'Bids' }).waitFor();
  await page.getByRole('button', { name: 'Execute query' }).click();
  await page.locator('.result-window').filter({ hasText: 'auctions_won' }).waitFor();
  await page.locator('.stream-entries li').nth(3).waitFor();
  await page.screenshot({ path: path.join(root, 'docs/images/graphiql.png') });
} finally {
  await browser.close();
  gateway.kill();
}

async function portOf({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const { msg, port } = JSON.parse(line);
    if (msg === 'listening') return port;
  }
  throw new Error('Expected the gateway to listen, but it ended.');
}
