import { spawnFor } from './child-process.ts';
import { freePort } from './free-port.ts';
import type { Scope } from './scope.ts';

export interface RedisTls {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Default: the certificate is its own authority. */
  readonly caFile?: string;
  /** Clients must show a certificate. Default: no. */
  readonly asksClients?: boolean;
}

/** Settings for the configuration of Redis and Sentinel. */
export const tlsSettings = ({ certificateFile, keyFile, caFile, asksClients }: RedisTls) => ({
  'tls-cert-file': certificateFile,
  'tls-key-file': keyFile,
  'tls-ca-cert-file': caFile ?? certificateFile,
  'tls-auth-clients': asksClients === true ? 'yes' : 'no',
});

/**
 * A server of the test's own that speaks only TLS. It may not listen yet. Needs 'redis-server'.
 *
 * @param args further arguments
 * @returns its port
 */
export async function startTlsRedis(
  scope: Scope,
  tls: RedisTls,
  ...args: readonly string[]
): Promise<number> {
  const port = await freePort();
  const options = Object.entries(tlsSettings(tls)).flatMap(([name, value]) => [`--${name}`, value]);
  const plain = ['--bind', '127.0.0.1', '--port', '0', '--save', ''];
  spawnFor(scope, 'redis-server', [...plain, '--tls-port', String(port), ...options, ...args]);
  return port;
}
