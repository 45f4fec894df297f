import path from 'node:path';
import { newKey, type Certificate } from './certificate.ts';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** An authority that signs certificates. */
export class Authority {
  /** PEM */
  readonly certificateFile: string;
  readonly #folder: string;
  readonly #keyFile: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.certificateFile = path.join(folder, 'authority.pem');
    this.#keyFile = path.join(folder, 'authority-key.pem');
  }

  static async create(scope: Scope): Promise<Authority> {
    const authority = new Authority(await temporaryFolder(scope));
    const files = ['-keyout', authority.#keyFile, '-out', authority.certificateFile];
    await newKey('-nodes', ...files, '-subj', '/CN=authority');
    return authority;
  }

  /**
   * Signs a certificate for `localhost`.
   *
   * @param name the subject; empty: the certificate has no subject, like those of SPIFFE
   * @param passphrase encrypts the key; absent: the key is not encrypted
   */
  async issue(name: string, passphrase?: string): Promise<Certificate> {
    const folder = this.#folder;
    const [keyFile, certificateFile] = [
      path.join(folder, `${name}-key.pem`),
      path.join(folder, `${name}.pem`),
    ];
    const secret = passphrase === undefined ? ['-nodes'] : ['-passout', `pass:${passphrase}`];
    const signer = ['-CA', this.certificateFile, '-CAkey', this.#keyFile];
    const files = ['-keyout', keyFile, '-out', certificateFile];
    const subject = ['-subj', name === '' ? '/' : `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost'];
    const leaf = ['-addext', 'basicConstraints=CA:FALSE'];
    await newKey(...secret, ...signer, ...files, ...subject, ...leaf);
    return { folder, keyFile, certificateFile };
  }
}
