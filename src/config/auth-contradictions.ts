import { PUBLIC_KEY_ALGORITHMS, SECRET_ALGORITHMS } from './settings/auth.ts';
import type { Config } from './settings.ts';

const KEYS = ['AUTH_SECRET', 'AUTH_PUBLIC_KEY', 'AUTH_JWKS_URL'] as const;

/** Settings that have an effect only with a key; without a key, every client may connect. */
const NEED_KEY = [
  'AUTH_ALGORITHMS',
  'AUTH_ISSUER',
  'AUTH_AUDIENCE',
  'AUTH_COOKIE',
  'AUTH_ANONYMOUS',
] as const;

const MIN_SECRET_BYTES = 32;

/** Faults of the settings of authentication that are valid alone, but not together. */
export function authContradictions(config: Config): string[] {
  const keys = KEYS.filter((name) => config[name] !== undefined);
  const [key] = keys;
  const faults: string[] = [];
  if (keys.length > 1) faults.push(`  ${keys.join(', ')}: expected one of them, got ${keys.length}`);
  if (config.AUTH_SECRET_PREVIOUS !== undefined && config.AUTH_SECRET === undefined)
    faults.push('  AUTH_SECRET: expected one, as AUTH_SECRET_PREVIOUS is set, got none');
  if (key === undefined) {
    const needing = NEED_KEY.filter((name) => isGiven(config[name]));
    if (needing.length === 0) return faults;
    return [`  ${KEYS.join(', ')}: expected one of them, as ${needing.join(' and ')} is set, got none`];
  }
  const fitting: readonly string[] = key === 'AUTH_SECRET' ? SECRET_ALGORITHMS : PUBLIC_KEY_ALGORITHMS;
  const unfitting = config.AUTH_ALGORITHMS.filter((name) => !fitting.includes(name));
  if (unfitting.length > 0) {
    faults.push(
      `  AUTH_ALGORITHMS: expected ${fitting.join(', ')}, as ${key} is set, got ${unfitting.join(', ')}`,
    );
  }
  // Neither the secret nor its length is shown.
  for (const name of ['AUTH_SECRET', 'AUTH_SECRET_PREVIOUS'] as const) {
    const secret = config[name];
    if (secret !== undefined && Buffer.byteLength(secret) < MIN_SECRET_BYTES)
      faults.push(`  ${name}: expected at least ${MIN_SECRET_BYTES} bytes, got fewer`);
  }
  if (config.AUTH_JWKS_URL !== undefined && hasCredentials(new URL(config.AUTH_JWKS_URL))) {
    faults.push('  AUTH_JWKS_URL: expected no user name and no password, got some');
  }
  if (config.AUTH_COOKIE !== undefined && config.ORIGINS.includes('*')) {
    faults.push(
      '  ORIGINS: expected the origins of your pages, as AUTH_COOKIE is set and browsers send cookies for any page, got *',
    );
  }
  return faults;
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}
