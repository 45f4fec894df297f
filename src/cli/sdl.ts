import { loadGraph } from '../graph/loader/load-graph.ts';
import { argumentsOf } from './command.ts';
import { print } from './output.ts';

/** `sluice sdl <graph>`: prints the graph's schema as a router composes it with those of other services. */
export async function sdl(args: readonly string[]): Promise<number> {
  const [folder = ''] = argumentsOf(args, ['graph']).positionals;
  return print((await loadGraph(folder)).subgraphSdl);
}
