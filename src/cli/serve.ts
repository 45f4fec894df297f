import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { loadConfig } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { withGraph } from '../gateway/graph-folder.ts';
import { createLog, type Log } from '../log.ts';
import { startTracing } from '../tracing/start-tracing.ts';
import { WORKER } from '../workers/messages.ts';
import { argumentsOf } from './command.ts';
import { logEnvFile, type EnvFile } from './env-file.ts';
import { print } from './output.ts';
import { browserUrl, guard, runPod } from './run-pod.ts';

/** `sluice serve`: runs until a signal ends it. */
export async function serve(args: readonly string[], envFile?: EnvFile): Promise<undefined> {
  argumentsOf(args, []);
  const config = loadConfig(withGraph(process.env));
  const log = createLog(config.LOG_LEVEL);
  guard(log);
  if (cluster.isWorker) return serveAsWorker(config, log);
  logEnvFile(envFile, log);
  const port = await runPod(config, process.env, log, () => createPod(config, log));
  if (process.stdout.isTTY) print(`\n  ${browserUrl(config, port)}/ for a browser\n\n`);
}

/** The primary has neither graph nor connections, so it does not load the modules for those. */
async function createPod(config: Config, log: Log) {
  const workers = processesOf(config);
  if (workers > 1) {
    const { Primary } = await import('../workers/primary.ts');
    return new Primary(config, workers, log);
  }
  const { Gateway } = await import('../gateway/gateway.ts');
  return Gateway.create(config, log, { tracing: await startTracing(process.env, log) });
}

async function serveAsWorker(config: Config, log: Log): Promise<undefined> {
  const [{ Gateway }, { runWorker }] = await Promise.all([
    import('../gateway/gateway.ts'),
    import('../workers/worker.ts'),
  ]);
  const workerLog = log.child({ worker: Number(process.env[WORKER]) });
  const tracing = await startTracing(process.env, workerLog);
  const processes = processesOf(config);
  const gateway = await Gateway.create(config, workerLog, { worker: true, processes, tracing });
  await runWorker(gateway, workerLog);
}

function processesOf({ WORKERS }: Config): number {
  return WORKERS === 'auto' ? availableParallelism() : WORKERS;
}
