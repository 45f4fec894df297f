#!/usr/bin/env node
import cluster from 'node:cluster';
import { isParseError, UsageError } from './cli/command.ts';
import { COMMANDS, isHelp, usage, usageOf } from './cli/commands.ts';
import { readEnvFile } from './cli/env-file.ts';
import { print } from './cli/output.ts';
import { messageOf, SluiceError } from './errors.ts';
import { nearest } from './support/nearest.ts';

/** @returns the exit code: see `Command.run` */
async function main([name = 'serve', ...args]: readonly string[]): Promise<number | undefined> {
  if (name === 'help' || isHelp(name)) return print(usage());
  if (args.some(isHelp)) return print(await usageOf(name));
  const command = COMMANDS.get(name);
  if (command === undefined) {
    const near = nearest(name, [...COMMANDS.keys()]);
    const guess = near === undefined ? '' : `. Did you mean ${near}?`;
    throw new UsageError(`expected one of the commands below, got '${name}'${guess}`);
  }
  // A worker has its primary's environment, with the file's variables; the file may have changed since.
  return command.run(args, cluster.isWorker ? undefined : readEnvFile(process.env));
}

/** Exits once standard output has taken all text: a timer or a server of a graph's code would keep the process. */
async function exit(code: number): Promise<never> {
  await new Promise((resolve) => process.stdout.write('', resolve));
  process.exit(code);
}

try {
  const code = await main(process.argv.slice(2));
  if (code !== undefined) await exit(code);
} catch (error) {
  const isUsageError = error instanceof UsageError || isParseError(error);
  // An error that the user can correct is printed as its message only, any other one with its stack.
  const isCorrectable = isUsageError || error instanceof SluiceError;
  const text = isCorrectable ? messageOf(error) : String((error as Error).stack ?? error);
  const help = isUsageError ? `\n${await usageOf(process.argv[2])}` : '';
  process.stderr.write(`sluice: ${text}\n${help}`);
  process.exit(isUsageError ? 2 : 1);
}
