import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { spawnFor } from './child-process.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { deployTool } from './services.ts';

/** nginx in front of pods that come and go, as an ingress controller is one. */
export interface LoadBalancer {
  readonly port: number;
  /** From soon on, only these ports get connections. Open ones stay, as their old nginx process goes on with them. */
  use(ports: readonly number[]): Promise<void>;
}

/** Needs 'nginx'. */
export async function startLoadBalancer(t: TestContext, ports: readonly number[]): Promise<LoadBalancer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-nginx-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'nginx.conf');
  const port = await freePort();
  await writeFile(file, configuration(folder, port, ports));
  const args = ['-p', folder, '-c', file, '-e', 'stderr', '-g', 'daemon off;'];
  // SIGKILL would leave its own processes behind.
  const child = spawnFor(t, deployTool('nginx'), args, { killSignal: 'SIGTERM' });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const exit = once(child, 'exit').then(([code]) => {
    throw new Error(`Expected nginx to listen on ${port}, but it ended with ${String(code)}: ${complaints}`);
  });
  exit.catch(() => undefined);
  const listening = eventually(() => fetch(`http://127.0.0.1:${port}/nginx`));
  await Promise.race([listening, exit]);
  return {
    port,
    async use(next) {
      await writeFile(file, configuration(folder, port, next));
      child.kill('SIGHUP');
    },
  };
}

function configuration(folder: string, port: number, ports: readonly number[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    worker_processes 1;
    pid ${folder}/pid;
    events { worker_connections 2048; }
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
      upstream pods { ${ports.map((upstream) => `server 127.0.0.1:${upstream} fail_timeout=1s;`).join(' ')} }
      server {
        listen 127.0.0.1:${port};
        location = /nginx { return 204; }
        location / {
          proxy_pass http://pods;
          proxy_http_version 1.1;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection upgrade;
          proxy_set_header Host $http_host;
          proxy_read_timeout 300s;
          proxy_next_upstream error timeout http_503;
        }
      }
    }
  `;
}
