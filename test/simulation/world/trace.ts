import type { Log } from '../../../src/log.ts';
import type { VirtualTime } from '../time/virtual-time.ts';

/** Fields of log lines that are the same in each run of a seed: pods have random names for each other. */
const FIELDS = 'topic partition offset attempt topics reason error partitions'.split(' ');

/** The events of a run, one line each, if the run is traced. */
export class Trace {
  readonly #time: VirtualTime;
  readonly #lines: string[] | undefined;

  constructor(time: VirtualTime, isKept: boolean) {
    this.#time = time;
    this.#lines = isKept ? [] : undefined;
  }

  get lines(): readonly string[] {
    return this.#lines ?? [];
  }

  /** @param text called only if the run is traced */
  add(who: string, text: () => string): void {
    if (this.#lines === undefined) return;
    const at = this.#time.elapsed.toFixed(3).padStart(11);
    this.#lines.push(`${at} ${who}: ${text()}`);
  }

  /** A log of one pod. */
  log(who: string): Log {
    const writers = ['debug', 'info', 'warn', 'error', 'fatal'].map((level) => [
      level,
      (...args: unknown[]) => this.add(who, () => `${level} ${describe(args)}`),
    ]);
    const log = {
      level: 'debug',
      isLevelEnabled: () => false,
      child: () => log,
      trace: () => undefined,
      ...Object.fromEntries(writers),
    };
    return log as unknown as Log;
  }
}

function describe([first, second]: readonly unknown[]): string {
  if (typeof first !== 'object' || first === null) return String(first);
  const fields = first as Readonly<Record<string, unknown>>;
  const known = FIELDS.filter((name) => fields[name] !== undefined).map(
    (name) => `${name}=${JSON.stringify(fields[name])}`,
  );
  const { err } = fields;
  if (err instanceof Error) known.push(String(err.stack));
  return [String(second), ...known].join(' ');
}
