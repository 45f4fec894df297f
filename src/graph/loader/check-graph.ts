import { Findings, type Diagnostic } from '../diagnostic.ts';
import { readGraph } from './read-graph.ts';

/**
 * All that is wrong with the graph in a folder, or may be, in the order of its files' lines. Its code is run, as it is
 * at start. Files are named as the folder is: relative if that is.
 */
export async function checkGraph(folder: string): Promise<readonly Diagnostic[]> {
  const findings = new Findings();
  await readGraph(folder, findings);
  return findings.all;
}
