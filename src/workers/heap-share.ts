const LIMIT = /^--max[-_]old[-_]space[-_]size=(\d+)$/;

interface Heap {
  /** Options that this process was started with; they win over `NODE_OPTIONS`. */
  readonly execArgv: readonly string[];
  readonly nodeOptions: string;
  /** What V8 has found by itself, from the memory that there is, if nobody has told it. */
  readonly limitBytes: number;
}

/** Options of Node.js for each of several processes which together may have the heap that this one may. */
export function sharedHeap({ execArgv, nodeOptions, limitBytes }: Heap, processes: number): string[] {
  const told = [...nodeOptions.split(/\s+/), ...execArgv].flatMap((option) => LIMIT.exec(option)?.[1] ?? []);
  const limit = Number(told.at(-1) ?? limitBytes / 2 ** 20);
  return [
    ...execArgv.filter((option) => !LIMIT.test(option)),
    `--max-old-space-size=${Math.floor(limit / processes)}`,
  ];
}
