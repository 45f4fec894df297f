import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { once } from 'node:events';
import { spawnFor } from './child-process.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import type { Scope } from './scope.ts';
import { deployTool } from './services.ts';
import { temporaryFolder } from './temporary-folder.ts';

const TEMPLATE = path.join(import.meta.dirname, '../../../deploy/nginx/nginx.conf.template');

/** nginx in front of gateways that are added and removed. */
export interface Nginx {
  /** `host:port` */
  readonly address: string;
  /**
   * Soon after, only gateways on these ports get new connections. Open connections stay: the old nginx process keeps
   * serving them.
   */
  use(ports: readonly number[]): Promise<void>;
}

/** nginx as deploy/nginx configures it, in front of gateways on these ports of this machine. Needs 'nginx'. */
export async function startNginx(scope: Scope, ports: readonly number[]): Promise<Nginx> {
  const folder = await temporaryFolder(scope);
  const address = `127.0.0.1:${await freePort()}`;
  const template = await readFile(TEMPLATE, 'utf8');
  const config = path.join(folder, 'nginx.conf');
  const configure = async (upstreams: readonly number[]): Promise<void> => {
    const servers = upstreams.map((port) => `server 127.0.0.1:${port} max_fails=0;`).join(' ');
    await writeFile(config, template.replaceAll('${LISTEN}', address).replaceAll('${SERVERS}', servers));
  };
  await configure(ports);
  const args = ['-p', folder, '-c', config, '-e', 'stderr', '-g', `daemon off; pid ${folder}/pid;`];
  // SIGKILL would leave nginx's worker processes behind.
  const child = spawnFor(scope, deployTool('nginx'), args, { killSignal: 'SIGTERM' });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exit = once(child, 'exit').then(([code]) => {
    throw new Error(`Expected nginx to listen on ${address}, but it ended with ${String(code)}: ${output}`);
  });
  exit.catch(() => undefined);
  await Promise.race([eventually(() => fetch(`http://${address}/`)), exit]);
  return {
    address,
    async use(next) {
      await configure(next);
      child.kill('SIGHUP');
    },
  };
}
