import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SluiceError } from '../../errors.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { Findings } from '../diagnostic.ts';
import { publicSchema } from '../loader/public-schema.ts';
import { loadCode } from '../loader/graph-code.ts';
import { BadGraph } from '../loader/load-graph.ts';
import { readSchema } from '../loader/schema-files.ts';
import { resolverTypes } from './resolver-types.ts';

/** First line of each written file, by which `sluice types` recognises its files. */
const HEADER =
  '// Written by `sluice types`. Write it anew when the schema changes, or which fields have resolvers.';

export interface WrittenTypes {
  readonly file: string;
  /** Why the graph's code could not be loaded; then the types follow from the schema alone. */
  readonly faults: readonly Diagnostic[];
}

/**
 * Writes the types of a graph's resolvers to a file.
 *
 * @param folder path of the graph's folder
 * @param file `schema.types.ts` in the folder, unless given
 * @param scalars see `resolverTypes`
 * @throws BadGraph if the schema can't be used
 * @throws SluiceError MISSING_PACKAGE; BAD_GRAPH if the file can't be written, or exists and was not written by
 *   `sluice types`, or if the schema lacks one of the scalars
 */
export async function writeTypes(
  folder: string,
  file = path.join(folder, 'schema.types.ts'),
  scalars: Readonly<Record<string, string>> = {},
): Promise<WrittenTypes> {
  const findings = new Findings();
  const schema = await readSchema(path.resolve(folder), findings);
  if (schema === undefined || findings.hasErrors) throw new BadGraph(folder, findings.errors);
  await expectOwn(file);
  const code = await loadCode(path.resolve(folder), findings);
  const types = await resolverTypes(folder, publicSchema(schema), code?.definition ?? {}, scalars);
  await writeFile(file, `${HEADER}\n${types}`).catch(refuse(file));
  return { file, faults: findings.errors };
}

async function expectOwn(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? HEADER : refuse(file)(error),
  );
  if (text.startsWith(HEADER)) return;
  const message = `expected no file ${file}, or one that sluice types has written: name another one, or remove it`;
  throw new SluiceError('BAD_GRAPH', message);
}

function refuse(file: string): (cause: Error) => never {
  return (cause) => {
    throw new SluiceError('BAD_GRAPH', `expected a file ${file} that can be written: ${cause.message}`, {
      cause,
    });
  };
}
