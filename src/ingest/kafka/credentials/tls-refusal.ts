import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { TlsCredentials } from './credentials.ts';

/** The error of a TLS socket; `reason` is OpenSSL's. */
type SocketError = NodeJS.ErrnoException & { readonly reason?: string };

/** The beginning of messages about connections that fail because of TLS. */
export const NO_TLS = 'no TLS connection: ';

/** Alerts with which a server refuses the client's certificate, or demands one. */
const ABOUT_CERTIFICATE = /ALERT.*(CERTIFICATE|UNKNOWN_CA)/;

/**
 * Says why two peers can't connect over TLS, in the words of the settings.
 *
 * @returns undefined for another error, such as a lost connection, after which another attempt may succeed
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
  // Contrary to its types, Node.js has no `subject` for a certificate without one, such as those of SPIFFE.
  const { subject, subjectAltName, validTo } = new X509Certificate(cert) as Partial<X509Certificate>;
  const name = (subject ?? subjectAltName)?.replaceAll('\n', ', ') ?? 'no name';
  return `that of KAFKA_CERT, for ${name}, valid until ${validTo}`;
}
