import { X509Certificate } from 'node:crypto';
import { messageOf, SluiceError } from '../errors.ts';
import { readSettingFile } from './config.ts';
import type { Config } from './settings.ts';

/**
 * The text of a file, of which line breaks at the end and a byte order mark are no part.
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
  // createSecureContext takes what is no certificate for none.
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
