import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openPage } from '../helpers/chromium.ts';

/**
 * A page that fails its test by what it complains of, or throws.
 *
 * @param fine what it may complain of
 * @returns also the hosts that it has asked for anything
 */
export async function openQuietPage(t: TestContext, fine?: RegExp) {
  const page = await openPage(t);
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const isComplaint = ['error', 'warning'].includes(message.type()) && fine?.test(message.text()) !== true;
    if (isComplaint) complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
  });
  page.on('websocket', (socket) => hosts.add(new URL(socket.url()).host));
  t.after(() => assert.deepEqual(complaints, []));
  return { page, complaints, hosts };
}
