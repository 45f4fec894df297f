import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { LogThrottles } from '../support/log-throttles.ts';
import type { LoggedIds } from '../tracing/traceparent.ts';
import { frozenHint } from './frozen-hint.ts';

const LOG_BOUND = { lines: 1, periodMs: 10_000 };

/** Characters of one line: a graph may throw a message of any length. */
const MAX_MESSAGE = 1_000;
const MAX_STACK = 4_000;
const MAX_NAME = 200;

/** Most nested causes that are logged; causes may be circular. */
const MAX_CAUSES = 4;

/** What has failed in one execution, at one field. */
export interface Fault {
  /** `Type.field` */
  readonly field: string;
  readonly path: readonly (string | number)[] | undefined;
  /** The value that was thrown. */
  readonly thrown: unknown;
  /** How often the field failed in this execution, for example in several items of a list. */
  readonly errors: number;
}

/** Logs faults of the graph's code and data: at most one line per field in ten seconds, with the number of omitted ones. */
export class FaultLog {
  readonly #log: Log;
  readonly #throttles: LogThrottles<string>;

  /** @param now ms, of a monotonic clock */
  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#throttles = new LogThrottles({ ...LOG_BOUND, now });
  }

  /**
   * Writes only message and stack of the thrown value: other properties may hold variables, or a whole response.
   *
   * @param span of the execution, if it is sampled
   */
  add(operation: string | undefined, { field, path, thrown, errors }: Fault, span?: LoggedIds): void {
    const suppressed = this.#throttles.admit(field);
    if (suppressed === undefined) return;
    const line = {
      field,
      path: path && cut(path.join('.'), MAX_NAME),
      operation: operation && cut(operation, MAX_NAME),
      error: cut(messageOf(thrown), MAX_MESSAGE),
      hint: frozenHint(thrown),
      stack: stackOf(thrown),
      errors,
      suppressed,
      ...span,
    };
    this.#log.error(line, 'a field could not be resolved');
  }
}

/** The frames of an error and of its causes, undefined if there are none. Never throws. */
function stackOf(thrown: unknown): string | undefined {
  const parts: string[] = [];
  try {
    for (let error = thrown; error instanceof Error && parts.length <= MAX_CAUSES; error = error.cause) {
      const { stack } = error;
      if (typeof stack !== 'string') break;
      const frames = stack.slice(Math.max(0, stack.indexOf('\n    at ')));
      const head = parts.length === 0 ? error.name : `caused by ${error.name}: ${messageOf(error)}`;
      parts.push(`${cut(String(head), MAX_MESSAGE)}${frames}`);
    }
  } catch {
    // A getter of the graph's own error.
  }
  return parts.length === 0 ? undefined : cut(parts.join('\n'), MAX_STACK);
}

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text;
