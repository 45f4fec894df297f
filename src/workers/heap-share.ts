const LIMIT = /^--max[-_]old[-_]space[-_]size=(\d+)$/;

interface Heap {
  /** Options that this process was started with; they take precedence over `NODE_OPTIONS`. */
  readonly execArgv: readonly string[];
  readonly nodeOptions: string;
  /** The heap limit that V8 has derived from the available memory; used if no option sets a limit. */
  readonly limitBytes: number;
}

/**
 * Divides this process's heap limit among several processes.
 *
 * @returns options of Node.js for each of them
 */
export function sharedHeap({ execArgv, nodeOptions, limitBytes }: Heap, processes: number): string[] {
  const given = [...nodeOptions.split(/\s+/), ...execArgv].flatMap((option) => LIMIT.exec(option)?.[1] ?? []);
  const limit = Number(given.at(-1) ?? limitBytes / 2 ** 20);
  return [
    ...execArgv.filter((option) => !LIMIT.test(option)),
    `--max-old-space-size=${Math.floor(limit / processes)}`,
  ];
}
