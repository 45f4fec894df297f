import { buildGraph } from '../graph/loader/build-graph.ts';
import { argumentsOf } from './command.ts';
import { print } from './output.ts';

/** `sluice build <graph>`: prints the paths of the files that it has written. */
export async function build(args: readonly string[]): Promise<number> {
  const [folder = ''] = argumentsOf(args, ['graph']).positionals;
  return print(`${(await buildGraph(folder)).join('\n')}\n`);
}
