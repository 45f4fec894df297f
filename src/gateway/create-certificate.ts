import { Certificate } from '../server/tls/certificate.ts';
import { systemClock } from '../support/clock.ts';
import type { Basics } from './basics.ts';

/**
 * @returns undefined if the public port does not speak TLS
 * @throws SluiceError BAD_SETTINGS
 */
export function createCertificate({
  config: { TLS_CERT: cert, TLS_KEY: key },
  metrics,
  log,
}: Pick<Basics, 'config' | 'metrics' | 'log'>): Certificate | undefined {
  if (cert === undefined || key === undefined) return undefined;
  return new Certificate({
    files: { cert, key },
    expires: (at) => metrics.certificateExpires.set(at),
    clock: systemClock,
    log: log.child({ part: 'tls' }),
  });
}
