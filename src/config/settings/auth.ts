import { choices, flag, integer, optionalText, optionalUrl, texts, type Setting } from '../types.ts';

/** Algorithms with a secret that the gateway shares with the issuer. */
export const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;

/** Algorithms for which the gateway has the issuer’s public key. */
export const PUBLIC_KEY_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

const anyText = (): boolean => true;

/** Settings for JSON Web Tokens, by which clients authenticate. */
export const AUTH_SETTINGS = {
  AUTH_SECRET: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Secret that tokens are signed with, at least 32 bytes. With this, `AUTH_PUBLIC_KEY` or `AUTH_JWKS_URL`, clients connect with a [token](../guides/authentication.md).',
  }),
  AUTH_SECRET_PREVIOUS: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Another secret that tokens may be signed with, while `AUTH_SECRET` is [changed](../guides/authentication.md#keys-that-change).',
  }),
  AUTH_PUBLIC_KEY: optionalText({
    default: undefined,
    help: 'File with the public key that tokens are verified with (PEM or JWK).',
  }),
  AUTH_JWKS_URL: optionalUrl(['https:', 'http:'], {
    default: undefined,
    secret: 'password',
    help: 'URL of the public keys that tokens are verified with. They are fetched every 5 minutes, and when a token names another key.',
  }),
  AUTH_ALGORITHMS: choices([...SECRET_ALGORITHMS, ...PUBLIC_KEY_ALGORITHMS], {
    default: [],
    help: 'Algorithms that tokens may be signed with. Not set: HS256 with `AUTH_SECRET`; else RS256, ES256 and EdDSA.',
  }),
  AUTH_ISSUER: texts('texts, separated by commas', anyText, {
    default: [],
    help: 'Issuers whose tokens are accepted, as their claim `iss` says. Not set: any.',
  }),
  AUTH_AUDIENCE: texts('texts, separated by commas', anyText, {
    default: [],
    help: 'A token must be for one of these, as its claim `aud` says. Not set: for any.',
  }),
  AUTH_CLOCK_TOLERANCE_SECONDS: integer(0, 300, {
    default: 5,
    help: "By how much the issuer's clock may differ.",
  }),
  AUTH_COOKIE: optionalText({
    default: undefined,
    help: 'Name of a cookie that may hold the token, on requests with an `Origin`. Not set: cookies are not looked at.',
  }),
  AUTH_CLAIMS: texts(
    'claims, separated by commas, each as property=claim or claim',
    (item) => /^\w+=[^=]+$|^\w+$/.test(item),
    {
      default: ['id=sub'],
      help: 'Claims that become the viewer, if the graph has no `authenticate`: `role` becomes its `role`, `org=organization.id` its `org`.',
    },
  ),
  AUTH_ANONYMOUS: flag({
    default: false,
    help: 'Let clients connect without a token; their viewer is `{}`.',
  }),
  AUTH_WARN_SECONDS: integer(1, 86_400, {
    default: 60,
    help: 'A client is told, by a `ping`, so many seconds before the token of its socket expires; if the token has less than twice as long left when it comes, the client is told after half of that time.',
  }),
  AUTH_GRACE_SECONDS: integer(0, 3_600, {
    default: 10,
    help: 'How long after its token has expired a socket is closed with 4403, unless a fresh token has come.',
  }),
  AUTH_REVOKED_SECONDS: integer(1, 2_592_000, {
    default: 86_400,
    help: 'How long pods remember a revocation, and refuse tokens that were issued before it. Set it to the lifetime of your tokens at least.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
