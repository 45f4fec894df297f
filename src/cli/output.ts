/** The exit code that a shell reports for a program ended by SIGPIPE; Node.js ignores that signal. */
const CLOSED_PIPE = 141;

let isGuarded = false;

/**
 * Writes to standard output. The process ends when a reader that has seen enough, such as `head`, closes the pipe.
 *
 * @returns 0, the exit code of a command that only prints
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
