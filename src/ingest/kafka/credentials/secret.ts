import { secretIn } from '../../../config/credential-files.ts';
import type { Config } from '../../../config/settings.ts';

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
