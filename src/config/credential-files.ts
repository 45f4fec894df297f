import { X509Certificate } from 'node:crypto';
import { messageOf, SluiceError } from '../errors.ts';
import { readSettingFile } from './config.ts';
import type { Config } from './settings.ts';

/**
 * The text of a file, without line breaks at its end and without a byte order mark.
 *
 * @throws SluiceError BAD_SETTINGS
 */
export function secretIn(setting: keyof Config, file: string): string {
  const text = readSettingFile(setting, file).replace(/^\uFEFF|[\r\n]+$/g, '');
  if (text !== '') return text;
  throw new SluiceError(
    'BAD_SETTINGS',
    `${setting}: expected a file with text in it, got ${file}, which is empty`,
  );
}

/** @returns PEM @throws SluiceError BAD_SETTINGS if there is no whole certificate */
export function certificateIn(setting: keyof Config, file: string): string {
  const text = readSettingFile(setting, file);
  // createSecureContext takes text that is no certificate as if there were none.
  tryOut(
    () => new X509Certificate(text),
    `${setting}: expected a file with a certificate as PEM, got ${file}`,
  );
  return text;
}

/** @throws SluiceError BAD_SETTINGS */
export function tryOut(use: () => unknown, expectation: string): void {
  try {
    use();
  } catch (cause) {
    throw new SluiceError('BAD_SETTINGS', `${expectation}: ${messageOf(cause)}`, { cause });
  }
}
