import { count, PHASES } from './description.ts';
import { MB } from './figures.ts';
import type { PhaseName, Sample } from './report.ts';

/** Where nothing can be redrawn, as in a log, a line this often is enough. */
const LOG_EVERY_MS = 5_000;

const TO_START_OF_EMPTY_LINE = '\r\u001B[K';

/** One line on how a run is doing. */
export function progress(target: string, phase: PhaseName, sample: Sample): string {
  return [
    `${target} · ${PHASES[phase]}`,
    `${(sample.at / 1_000).toFixed(0)} s`,
    `${count(sample.sockets)} sockets`,
    `${(sample.residentBytes / MB).toFixed(0)} MB`,
    `loop ${(sample.loopUtilisation * 100).toFixed(0)} %`,
    `${count(sample.eventsSent)} events`,
    `${count(sample.deliveries)} deliveries`,
  ].join(' · ');
}

type Out = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>;

/** Shows progress: one line redrawn on a terminal; elsewhere a line every five seconds and one for each new phase. */
export class ProgressLine {
  readonly #out: Out;
  /** ms since the run began, of the line before. */
  #shownAt = -Infinity;
  #shownOf = '';

  constructor(out: Out) {
    this.#out = out;
  }

  show(target: string, phase: PhaseName, sample: Sample): void {
    const line = progress(target, phase, sample);
    if (this.#out.isTTY) return void this.#redraw(line);
    const of = `${target} ${phase}`;
    if (of === this.#shownOf && sample.at - this.#shownAt < LOG_EVERY_MS) return;
    this.#shownOf = of;
    this.#shownAt = sample.at;
    this.#out.write(`${line}\n`);
  }

  /** Empties the line, for what is written next. */
  clear(): void {
    if (this.#out.isTTY) this.#out.write(TO_START_OF_EMPTY_LINE);
  }

  /** A line that wraps could not be redrawn. */
  #redraw(line: string): void {
    this.#out.write(TO_START_OF_EMPTY_LINE + line.slice(0, Math.max(0, (this.#out.columns || 80) - 1)));
  }
}
