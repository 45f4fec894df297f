/** `yarn loadtest <command>`: the program. Ends with 2 when it can't tell what is asked for, with 1 when that fails. */
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
