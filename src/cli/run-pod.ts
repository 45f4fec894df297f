import type { Config } from '../config/settings.ts';
import { configWarnings } from '../config/warnings.ts';
import { graphFolderOf } from '../gateway/graph-folder.ts';
import type { Log } from '../log.ts';
import { reloadOnSignal, stopOnSignal, type Pod } from './signals.ts';

interface StartablePod extends Pod {
  start(): Promise<{ readonly port: number; readonly adminPort: number }>;
}

/**
 * Runs a gateway, or the primary of several workers, until a signal ends it.
 *
 * @param env the environment that the settings come from
 * @returns the port for browsers, once it listens
 */
export async function runPod(
  config: Config,
  env: NodeJS.ProcessEnv,
  log: Log,
  create: () => Promise<StartablePod>,
): Promise<number> {
  for (const warning of configWarnings(env, config)) log.warn(warning);
  const current: { pod?: Pod } = {};
  stopOnSignal(() => current.pod, log);
  reloadOnSignal(() => current.pod);
  const pod = await create();
  current.pod = pod;
  const { port, adminPort } = await pod.start();
  log.info({ port, adminPort, graph: graphFolderOf(config), pid: process.pid }, 'listening');
  return port;
}

/** An unhandled rejection in a graph's code is logged, and does not end the process and all its connections. */
export function guard(log: Log): void {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled promise rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception; the process exits');
    process.exit(1);
  });
}

/** The URL under which a browser on this machine reaches the gateway. */
export function browserUrl({ BIND, TLS_CERT }: Pick<Config, 'BIND' | 'TLS_CERT'>, port: number): string {
  return `${TLS_CERT === undefined ? 'http' : 'https'}://${hostOf(BIND)}:${port}`;
}

function hostOf(address: string | undefined): string {
  if (address === undefined || /^(::1?|0\.0\.0\.0|127\..+)$/.test(address)) return 'localhost';
  return address.includes(':') ? `[${address}]` : address;
}
