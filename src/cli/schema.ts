import { printSchema } from 'graphql';
import { directivesSdl } from '../graph/directives/definitions.ts';
import { loadGraph } from '../graph/loader/load-graph.ts';
import { argumentsOf } from './command.ts';
import { print } from './output.ts';

/**
 * `sluice schema [graph]`: prints the directives that a schema is written with, for editors and code generators that
 * read schema files; with a graph, prints the graph's schema as clients see it.
 */
export async function schema(args: readonly string[]): Promise<number> {
  const [folder] = argumentsOf(args, [], { optional: ['graph'] }).positionals;
  if (folder === undefined) return print(directivesSdl());
  return print(`${printSchema((await loadGraph(folder)).schema)}\n`);
}
