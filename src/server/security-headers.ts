/**
 * Headers of every response: browsers do not interpret it as another type, show it in a frame, or send its address to other
 * sites. This content security policy lets a document load nothing; pages set their own instead.
 */
export const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;
