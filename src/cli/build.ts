import { buildGraph } from '../graph/loader/build-graph.ts';
import { argumentsOf } from './command.ts';
import { print } from './output.ts';

/** `sluice build <graph> [folder]`: prints the paths of the files that it has written. */
export async function build(args: readonly string[]): Promise<number> {
  const [folder = '', output] = argumentsOf(args, ['graph'], { optional: ['folder'] }).positionals;
  return print(`${(await buildGraph(folder, output)).join('\n')}\n`);
}
