import { claimedNames } from '../auth/claims.ts';
import { loadConfig } from '../config/config.ts';
import { SluiceError } from '../errors.ts';
import { formatDiagnostic } from '../graph/diagnostic.ts';
import { checkGraph } from '../graph/loader/check-graph.ts';
import { argumentsOf } from './command.ts';
import { counted, print } from './output.ts';
import { readSubgraph } from './subgraph-schema.ts';
import { typecheck } from './typecheck.ts';

/** `sluice check <graph>`: prints a line for each finding, and the numbers of errors and warnings. */
export async function check(args: readonly string[]): Promise<number> {
  const { positionals, options, lists } = argumentsOf(args, ['graph'], {
    options: ['no-types'],
    lists: ['subgraph'],
  });
  const [folder = ''] = positionals;
  const subgraphs = await Promise.all((lists['subgraph'] ?? []).map(readSubgraph));
  const types = options.has('no-types') ? [] : await typecheck(folder);
  const diagnostics = [...(await checkGraph(folder, { claims: claims(), subgraphs })), ...types];
  for (const diagnostic of diagnostics) print(`${formatDiagnostic(diagnostic)}\n`);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  print(`${counted(errors, 'error')}, ${counted(diagnostics.length - errors, 'warning')}\n`);
  return errors > 0 ? 1 : 0;
}

/** @returns properties that viewers have by claims; undefined if settings can't be used: a check needs no secrets */
function claims(): readonly string[] | undefined {
  try {
    return claimedNames(loadConfig(process.env));
  } catch (error) {
    if (error instanceof SluiceError) return undefined;
    throw error;
  }
}
