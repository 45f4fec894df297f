import { readSettingFile } from '../../../config/config.ts';
import type { Config } from '../../../config/settings.ts';
import { SluiceError } from '../../../errors.ts';

/**
 * @param value is used without a file
 * @param setting that names the file
 * @returns what gives the secret as it is now: it reads the file, and throws SluiceError BAD_SETTINGS if it can't
 */
export function secret<Value extends string | undefined>(
  value: Value,
  setting: keyof Config,
  file: string | undefined,
): () => Value | string {
  return file === undefined ? () => value : () => secretIn(setting, file);
}

/** The text of a file, of which line breaks at the end are no part. @throws SluiceError BAD_SETTINGS */
function secretIn(setting: keyof Config, file: string): string {
  const text = readSettingFile(setting, file).replace(/[\r\n]+$/, '');
  if (text !== '') return text;
  throw new SluiceError(
    'BAD_SETTINGS',
    `${setting}: expected a file with text in it, got ${file}, which is empty`,
  );
}
