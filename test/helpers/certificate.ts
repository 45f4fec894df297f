import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface Certificate {
  /** The folder of the files, in which a test may put further ones. */
  readonly folder: string;
  /** PEM. */
  readonly keyFile: string;
  /** PEM, self-signed, so that the certificate is its own authority. */
  readonly certificateFile: string;
}

/** An EC key, which is made quickly. */
const NEW_KEY = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

/** Makes a key and its certificate. */
export const newKey = (...args: readonly string[]) => promisify(execFile)('openssl', [...NEW_KEY, ...args]);

/** A certificate for `localhost` and `127.0.0.1`. */
export async function selfSigned(scope: Scope): Promise<Certificate> {
  const folder = await temporaryFolder(scope);
  const [keyFile, certificateFile] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const output = ['-keyout', keyFile, '-out', certificateFile];
  await newKey('-nodes', ...output, ...subject);
  return { folder, keyFile, certificateFile };
}
