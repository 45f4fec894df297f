import { formatDiagnostic } from '../graph/diagnostic.ts';
import { writeTypes } from '../graph/codegen/write-types.ts';
import { argumentsOf, UsageError } from './command.ts';
import { print } from './output.ts';

/** `sluice types <graph> [file]`: prints the path of the file that it has written. */
export async function types(args: readonly string[]): Promise<number> {
  const allowed = { optional: ['file'], lists: ['scalar'] };
  const { positionals, lists } = argumentsOf(args, ['graph'], allowed);
  const [folder = '', output] = positionals;
  const scalars = Object.fromEntries((lists['scalar'] ?? []).map(scalarOf));
  const { file, faults } = await writeTypes(folder, output, scalars);
  for (const fault of faults) process.stderr.write(`${formatDiagnostic(fault)}\n`);
  return print(`${file}\n`);
}

/** `Time=string` */
function scalarOf(written: string): [name: string, type: string] {
  const at = written.indexOf('=');
  if (at < 1) throw new UsageError(`expected --scalar Name=type, got '${written}'`);
  return [written.slice(0, at), written.slice(at + 1)];
}
