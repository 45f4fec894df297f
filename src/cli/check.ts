import { formatDiagnostic } from '../graph/diagnostic.ts';
import { checkGraph } from '../graph/loader/check-graph.ts';
import { argumentsOf } from './command.ts';
import { counted, print } from './output.ts';

/** `sluice check <graph>`: a line for each finding, and how many there are. */
export async function check(args: readonly string[]): Promise<number> {
  const [folder = ''] = argumentsOf(args, ['graph']).positionals;
  const diagnostics = await checkGraph(folder);
  for (const diagnostic of diagnostics) print(`${formatDiagnostic(diagnostic)}\n`);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  print(`${counted(errors, 'error')}, ${counted(diagnostics.length - errors, 'warning')}\n`);
  return errors > 0 ? 1 : 0;
}
