import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { ended, spawnFor } from './child-process.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { deployTool } from './services.ts';

const TEMPLATE = path.join(import.meta.dirname, '../../../deploy/nginx/nginx.conf.template');

/**
 * nginx as deploy/nginx configures it, in front of gateways on these ports of this machine. Needs 'nginx'.
 *
 * @returns `host:port`
 */
export async function startNginx(t: TestContext, ports: readonly number[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-nginx-'));
  const address = `127.0.0.1:${await freePort()}`;
  const servers = ports.map((port) => `server 127.0.0.1:${port};`).join(' ');
  const template = await readFile(TEMPLATE, 'utf8');
  const config = path.join(folder, 'nginx.conf');
  await writeFile(config, template.replaceAll('${LISTEN}', address).replaceAll('${SERVERS}', servers));
  let output = '';
  // Before the process is there, so that this is done first: killed, it would leave its workers behind.
  t.after(async () => {
    await ended(child, 'SIGTERM');
    await rm(folder, { recursive: true, force: true });
  });
  const args = ['-p', folder, '-c', config, '-e', 'stderr', '-g', `daemon off; pid ${folder}/pid;`];
  const child = spawnFor(t, deployTool('nginx'), args);
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await eventually(async () => {
    assert.equal(child.exitCode, null, output);
    await fetch(`http://${address}/`);
  });
  return address;
}
