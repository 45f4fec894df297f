import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { TlsCredentials } from './credentials.ts';

/** What a socket of TLS fails with; `reason` is OpenSSL's. */
type SocketError = NodeJS.ErrnoException & { readonly reason?: string };

/** How messages of connections begin that TLS is in the way of. */
export const NO_TLS = 'no TLS connection: ';

/** Alerts by which a server tells that it does not take the client's certificate, or wants one. */
const ABOUT_CERTIFICATE = /ALERT.*(CERTIFICATE|UNKNOWN_CA)/;

/**
 * Why two peers do not come together over TLS, in the words of the settings.
 *
 * @returns undefined if it is another error, such as a lost connection, which another attempt may not meet
 */
export function tlsRefusal(
  { message, code = '', reason = message }: SocketError,
  { authorizationError }: Pick<TLSSocket, 'authorizationError'>,
  { ca, cert }: TlsCredentials,
): string | undefined {
  // OpenSSL's messages end with line breaks.
  const came = reason.trim();
  if (authorizationError) {
    const authority = ca === undefined ? 'an authority that Node.js trusts' : 'an authority in KAFKA_CA';
    return `expected a certificate of the broker for its name, by ${authority}, got: ${came}`;
  }
  if (!code.startsWith('ERR_SSL_')) return undefined;
  if (ABOUT_CERTIFICATE.test(code))
    return `the broker expected a certificate that it trusts, got ${shown(cert)}: ${came}`;
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return `expected a listener with TLS, got one without: ${came}`;
  return came;
}

function shown(cert: string | undefined): string {
  if (cert === undefined) return 'none (KAFKA_CERT)';
  // Node.js has no subject of a certificate without one, as those of SPIFFE are, against its types.
  const { subject, subjectAltName, validTo } = new X509Certificate(cert) as Partial<X509Certificate>;
  const name = (subject ?? subjectAltName)?.replaceAll('\n', ', ') ?? 'no name';
  return `that of KAFKA_CERT, for ${name}, valid until ${validTo}`;
}
