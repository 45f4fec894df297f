/** The program of `yarn loadtest <command>`. Exit code 2: wrong arguments; 1: the command has failed. */
import { messageOf } from '../src/errors.ts';
import { UsageError } from './command.ts';
import { readCommandLine } from './commands.ts';

try {
  const invocation = await readCommandLine(process.argv.slice(2));
  if ('help' in invocation) console.log(invocation.help);
  else await invocation.run();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
