import { getLocation, type GraphQLError, type Location } from 'graphql';

/** Name of the GraphQL sources that the gateway adds to a schema. */
export const GATEWAY_SOURCE = 'sluice';

/** A position in a file; line and column count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One fault of a graph (`error`), or one likely mistake (`warning`). */
export interface Diagnostic extends Place {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** Tells the graph author how to remedy the fault. */
  readonly hint: string;
}

/** `file:line:column: error: message`, which editors and terminals turn into a link, and the hint on a second line. */
export function formatDiagnostic({ severity, file, line, column, message, hint }: Diagnostic): string {
  return `${file}:${line}:${column}: ${severity}: ${message}\n    ${hint}`;
}

/** Collects diagnostics, so that one run reports every fault. */
export class Findings {
  readonly #diagnostics: Diagnostic[] = [];

  error(place: Place, message: string, hint: string): void {
    this.#diagnostics.push({ severity: 'error', ...place, message, hint });
  }

  warning(place: Place, message: string, hint: string): void {
    this.#diagnostics.push({ severity: 'warning', ...place, message, hint });
  }

  get hasErrors(): boolean {
    return this.errors.length > 0;
  }

  get errors(): readonly Diagnostic[] {
    return this.#diagnostics.filter(({ severity }) => severity === 'error');
  }

  get warnings(): readonly Diagnostic[] {
    return this.#diagnostics.filter(({ severity }) => severity === 'warning');
  }

  /** Sorted by their positions in the files. */
  get all(): readonly Diagnostic[] {
    return this.#diagnostics.toSorted(
      (a, b) => b.file.localeCompare(a.file) || a.line - b.line || a.column - b.column,
    );
  }
}

export function startOf(file: string): Place {
  return { file, line: 1, column: 1 };
}

/** Position of a schema node. `readSchema` names the GraphQL source after its file. */
export function placeOf(
  node: { readonly loc?: Location | undefined } | null | undefined,
  file: string,
): Place {
  if (node?.loc === undefined) return startOf(file);
  return { file: node.loc.source.name, ...getLocation(node.loc.source, node.loc.start) };
}

/**
 * Position of an error of graphql-js: its first position in the graph, or the second of two definitions of one name.
 *
 * @param file the file to name if the error has no position
 */
export function placeOfError(error: GraphQLError, file: string): Place {
  const nodes = error.nodes?.filter(({ loc }) => loc !== undefined && loc.source.name !== GATEWAY_SOURCE);
  const node = nodes?.at(error.message.startsWith('There can be only one') ? -1 : 0);
  if (node !== undefined) return placeOf(node, file);
  const [position] = error.locations ?? [];
  if (position === undefined || error.source === undefined || error.source.name === GATEWAY_SOURCE) {
    return startOf(file);
  }
  return { file: error.source.name, ...position };
}

/** `a, b and c`, for messages. */
export function listed(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? 'none';
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
