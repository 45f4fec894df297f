/**
 * Headers of every response: it is not interpreted as another type, not shown in a frame, and its address is told to no
 * other site. Pages set a content security policy of their own instead of this one, which lets a document load nothing.
 */
export const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;
