import { readSettingFile } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import type { Executor } from '../executor/executor.ts';
import { PersistedDocuments } from '../executor/persisted-documents.ts';

/** @throws SluiceError BAD_SETTINGS if the file can't be read, or does not fit the graph */
export function loadPersistedDocuments(
  { PERSISTED_DOCUMENTS: file }: Config,
  executor: Pick<Executor, 'check'>,
): PersistedDocuments | undefined {
  if (file === undefined) return undefined;
  const json = readSettingFile('PERSISTED_DOCUMENTS', file);
  return PersistedDocuments.load(file, json, (text) => executor.check(text));
}
