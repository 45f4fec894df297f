import { Findings, type Diagnostic } from '../diagnostic.ts';
import { readGraph, type ReadOptions } from './read-graph.ts';

/**
 * Finds all faults and likely mistakes of the graph in a folder, sorted by file and line. The graph's code is run, as
 * at start.
 *
 * @param folder path of the folder; if it is relative, so are the paths of files in the result
 */
export async function checkGraph(
  folder: string,
  options?: Pick<ReadOptions, 'claims'>,
): Promise<readonly Diagnostic[]> {
  const findings = new Findings();
  await readGraph(folder, findings, options);
  return findings.all;
}
