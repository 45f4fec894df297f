import { count, PHASES } from './description.ts';
import { MB } from './figures.ts';
import type { PhaseName, Sample } from './report.ts';

/** The time between lines in a log, where a line can't be redrawn. */
const LOG_EVERY_MS = 5_000;

const TO_START_OF_EMPTY_LINE = '\r\u001B[K';

/** Returns one line on the progress of a run. */
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
  /** When the last line was shown, in ms since the run began. */
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

  /** Empties the line, so that other text can be written in its place. */
  clear(): void {
    if (this.#out.isTTY) this.#out.write(TO_START_OF_EMPTY_LINE);
  }

  /** Cuts the line to the terminal's width: a line that wraps could not be redrawn. */
  #redraw(line: string): void {
    this.#out.write(TO_START_OF_EMPTY_LINE + line.slice(0, Math.max(0, (this.#out.columns || 80) - 1)));
  }
}
