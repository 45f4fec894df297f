import { secretIn } from '../../../config/credential-files.ts';
import type { Config } from '../../../config/settings.ts';

/**
 * @param value the secret, if there is no file
 * @param setting the setting that names the file
 * @returns a function that returns the present secret: it reads the file, and throws SluiceError BAD_SETTINGS if it can't
 */
export function secret<Value extends string | undefined>(
  value: Value,
  setting: keyof Config,
  file: string | undefined,
): () => Value | string {
  return file === undefined ? () => value : () => secretIn(setting, file);
}
