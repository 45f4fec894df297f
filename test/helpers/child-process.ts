import {
  spawn,
  type ChildProcessWithoutNullStreams,
  type SpawnOptionsWithoutStdio,
} from 'node:child_process';
import { once } from 'node:events';
import type { Scope } from './scope.ts';

/** All child processes share one exit listener: Node.js warns of more than ten. */
const killsAtExit = new Set<() => void>();
process.once('exit', () => {
  for (const kill of killsAtExit) kill();
});

/** Starts a process that ends with its scope at the latest, by `killSignal` or, in the end, by SIGKILL. */
export function spawnFor(
  scope: Scope,
  command: string,
  args: readonly string[],
  options: SpawnOptionsWithoutStdio & { readonly killSignal?: NodeJS.Signals } = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(command, args, options);
  const { killSignal = 'SIGKILL' } = options;
  const kill = (): void => {
    child.kill(killSignal);
  };
  // The scope's hook does not run if the test process exits by itself.
  killsAtExit.add(kill);
  child.once('exit', () => killsAtExit.delete(kill));
  scope.after(() => ended(child, killSignal));
  return child;
}

/** Sends the signal, unless the process has ended already, and resolves when it has ended. */
export async function ended(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
