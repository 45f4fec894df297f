import assert from 'node:assert/strict';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { spawnFor } from '../helpers/child-process.ts';
import { openPage } from '../helpers/chromium.ts';
import { needs } from '../helpers/services.ts';

const CLI = path.join(import.meta.dirname, '../../src/cli.js');

/** The gateway as `npm start` runs it on a bare machine: no Kafka, no Redis, whatever the tests' own environment says. */
async function startGateway(t: TestContext): Promise<string> {
  const env = { PATH: process.env['PATH'], PORT: '0', ADMIN_PORT: '0' };
  const gateway = spawnFor(t, process.execPath, ['--enable-source-maps', CLI, 'serve'], { env });
  const complaints = text(gateway.stderr);
  const port = await new Promise<number>((resolve, reject) => {
    const lines = createInterface({ input: gateway.stdout });
    lines.on('line', (line) => {
      const entry = JSON.parse(line) as { msg?: string; port?: number };
      if (entry.msg === 'listening' && entry.port !== undefined) resolve(entry.port);
    });
    gateway.once('exit', (code) => {
      complaints.then((said) => reject(new Error(`gateway ended with ${code}: ${said}`)), reject);
    });
  });
  return `localhost:${port}`;
}

test(
  'GraphiQL shows live events of the prepared subscription, and asks no other host for anything',
  needs('chromium'),
  async (t) => {
    const host = await startGateway(t);
    const page = await openPage(t);
    const hosts = new Set<string>();
    const complaints: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
    });
    page.on('websocket', (socket) => hosts.add(new URL(socket.url()).host));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });

    await page.goto(`http://${host}/`);
    const editor = page.locator('.graphiql-query-editor').filter({ hasText: '# Press play' });
    await editor.filter({ hasText: /subscription \w+ \{/ }).waitFor();
    await page.getByRole('button', { name: 'Execute query' }).click();

    const response = page.locator('.result-window');
    const result = response.filter({ hasText: '"data"' });
    await result.waitFor();
    const first = (await result.textContent()) ?? '';
    await result.filter({ hasNotText: first }).waitFor(); // The next event has taken its place.

    assert.doesNotMatch((await response.textContent()) ?? '', /"errors"/);
    assert.deepEqual([...hosts], [host]);
    assert.deepEqual(complaints, []);
  },
);
