#!/usr/bin/env node
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { configWarnings } from './config/warnings.ts';
import { configMarkdown, describeConfig, loadConfig } from './config/config.ts';
import type { Config } from './config/settings.ts';
import { messageOf, SluiceError } from './errors.ts';
import type { Gateway } from './gateway/gateway.ts';
import { buildGraph } from './graph/loader/build-graph.ts';
import { checkGraph } from './graph/loader/check-graph.ts';
import { formatDiagnostic } from './graph/diagnostic.ts';
import { hasLostTerminal } from './cli/terminal.ts';
import { createLog, type Log } from './log.ts';
import type { Primary } from './workers/primary.ts';
import { WORKER } from './workers/messages.ts';

const USAGE = `sluice [command]

  serve                run the gateway (the default)
  check <graph>        validate a graph's folder without starting
  build <graph>        compile a graph's TypeScript to JavaScript, for images without Babel
  config               print the effective settings
  config --markdown    print all settings as a table
  dead-letters list    print the messages that could not be decoded
  dead-letters replay  send them back to the topics that they came from

Settings come from the environment; see 'sluice config --markdown'.
The options of dead-letters are listed by 'sluice dead-letters --help'.
`;

/** @returns the exit code: 0 done, 1 failed, 2 wrong arguments; undefined while the gateway runs */
async function main(args: readonly string[]): Promise<number | undefined> {
  if (args[0] === 'dead-letters') {
    const { deadLetters } = await import('./cli/dead-letters.ts');
    return deadLetters(args.slice(1));
  }
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, markdown: { type: 'boolean' } },
  });
  const [command = 'serve', graph, ...rest] = positionals;
  if (values.help === true) return print(USAGE);
  const takesGraph = command === 'check' || command === 'build';
  const tooMuch = rest.length > 0 || (values.markdown === true && command !== 'config');
  if (tooMuch || (graph !== undefined) !== takesGraph) return usageError(command, takesGraph);
  switch (command) {
    case 'serve':
      await serve();
      return undefined;
    case 'check':
      return check(graph ?? '');
    case 'build':
      return print(`${(await buildGraph(graph ?? '')).join('\n')}\n`);
    case 'config':
      return print(
        `${values.markdown === true ? configMarkdown() : describeConfig(loadConfig(process.env))}\n`,
      );
    default:
      return usageError(command, false);
  }
}

async function serve(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLog(config.LOG_LEVEL);
  guard(log);
  if (!cluster.isWorker) for (const warning of configWarnings(process.env, config)) log.warn(warning);
  if (cluster.isWorker) return serveAsWorker(config, log);
  let pod: Gateway | Primary | undefined;
  stopOnSignal(() => pod, log);
  reloadOnSignal(() => pod);
  const workers = processesOf(config);
  if (workers > 1) pod = await createWorkers(config, workers, log);
  else {
    const { Gateway } = await import('./gateway/gateway.ts');
    pod = await Gateway.create(config, log);
  }
  const { port, adminPort } = await pod.start();
  log.info({ port, adminPort, pid: process.pid }, 'listening');
  if (process.stdout.isTTY) print(`\n  http://${hostOf(config)}:${port}/ for a browser\n\n`);
}

async function serveAsWorker(config: Config, log: Log): Promise<void> {
  const [{ Gateway }, { runWorker }] = await Promise.all([
    import('./gateway/gateway.ts'),
    import('./workers/worker.ts'),
  ]);
  const workerLog = log.child({ worker: Number(process.env[WORKER]) });
  const gateway = await Gateway.create(config, workerLog, { worker: true, processes: processesOf(config) });
  await runWorker(gateway, workerLog);
}

/** Under which a browser on this machine reaches the gateway. */
function hostOf({ BIND }: Config): string {
  if (BIND === undefined || /^(::1?|0\.0\.0\.0|127\..+)$/.test(BIND)) return 'localhost';
  return BIND.includes(':') ? `[${BIND}]` : BIND;
}

function processesOf({ WORKERS }: Config): number {
  return WORKERS === 'auto' ? availableParallelism() : WORKERS;
}

/** The primary has neither graph nor connections, so it does not load the modules for those. */
async function createWorkers(config: Config, count: number, log: Log): Promise<Primary> {
  const { Primary } = await import('./workers/primary.ts');
  return new Primary(config, count, log);
}

/** One that comes while the graph is loaded for the first time finds no pod yet, and has no effect. */
function reloadOnSignal(current: () => Gateway | Primary | undefined): void {
  const reload = (): void => {
    if (!hasLostTerminal()) return void current()?.reload();
    // Without a listener it ends the process.
    process.off('SIGHUP', reload);
    process.kill(process.pid, 'SIGHUP');
  };
  process.on('SIGHUP', reload);
}

async function check(folder: string): Promise<number> {
  const diagnostics = await checkGraph(folder);
  for (const diagnostic of diagnostics) print(`${formatDiagnostic(diagnostic)}\n`);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  print(`${counted(errors, 'error')}, ${counted(diagnostics.length - errors, 'warning')}\n`);
  return errors > 0 ? 1 : 0;
}

/** An unhandled rejection in a graph's code is logged, and does not end the process and all its connections. */
function guard(log: Log): void {
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled promise rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception; the process exits');
    process.exit(1);
  });
}

/** Signals that come so soon after the first are the same one. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Called before the pod exists: the first process of a container has no default handlers, so a signal that arrives
 * while the graph is loaded would be ignored.
 */
function stopOnSignal(current: () => Gateway | Primary | undefined, log: Log): void {
  let stoppingSince: number | undefined;
  const on = (signal: NodeJS.Signals, stop: (pod: Gateway | Primary) => Promise<void>): void => {
    process.on(signal, () => {
      if (stoppingSince !== undefined) {
        // A signal to the whole process group comes a second time by way of npm, which passes it on.
        if (performance.now() - stoppingSince < SAME_SIGNAL_MS) return;
        process.exit(1);
      }
      const pod = current();
      if (pod === undefined) process.exit(0);
      stoppingSince = performance.now();
      log.info({ signal }, 'stopping');
      stop(pod).then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'stopping failed');
          process.exit(1);
        },
      );
    });
  };
  on('SIGTERM', (pod) => pod.drain());
  // Ctrl-C at a terminal: the user waits for the process to end, so it is not drained.
  on('SIGINT', (pod) => pod.stop());
}

function usageError(command: string, takesGraph: boolean): number {
  const expected = takesGraph ? `'${command} <graph>'` : 'one of the commands below';
  process.stderr.write(`expected ${expected}, got '${process.argv.slice(2).join(' ')}'\n\n${USAGE}`);
  return 2;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

try {
  const code = await main(process.argv.slice(2));
  if (code !== undefined) process.exitCode = code;
} catch (error) {
  // An error that the user can correct is printed as its message only, any other one with its stack.
  const isUsageError = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
  const isCorrectable = error instanceof SluiceError || isUsageError;
  const text = isCorrectable ? messageOf(error) : String((error as Error).stack ?? error);
  process.stderr.write(`sluice: ${text}\n`);
  process.exit(isUsageError ? 2 : 1);
}
