/** The exit code that a shell reports for a program that SIGPIPE has ended, which Node.js ignores. */
const CLOSED_PIPE = 141;

let isGuarded = false;

/**
 * Writes to standard output. A reader that has seen enough, as `head` has, closes it: the process ends then.
 *
 * @returns the exit code of a command that has done nothing but this
 */
export function print(text: string): number {
  if (!isGuarded) process.stdout.on('error', endWithReader);
  isGuarded = true;
  process.stdout.write(text);
  return 0;
}

function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(CLOSED_PIPE);
  throw error;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
