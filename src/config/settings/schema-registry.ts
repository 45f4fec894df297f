import { optionalText, optionalUrl, texts, type Setting } from '../types.ts';

/** The schema registry that messages name their schemas of. Files are read again at each request. */
export const SCHEMA_REGISTRY_SETTINGS = {
  SCHEMA_REGISTRY_URL: texts('http:// or https:// URLs without credentials, separated by commas', isUrl, {
    default: [],
    help: 'Schema registry for topics with `format: AVRO` or `PROTOBUF`: the URL of [Confluent’s API](../guides/formats.md), or of Apicurio’s own, `…/apis/registry/v2`. Several are tried in turn.',
  }),
  SCHEMA_REGISTRY_USERNAME: optionalText({
    default: undefined,
    help: 'User name at the schema registry; Confluent Cloud’s API key.',
  }),
  SCHEMA_REGISTRY_PASSWORD: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Password at the schema registry.',
  }),
  SCHEMA_REGISTRY_PASSWORD_FILE: optionalText({
    default: undefined,
    help: 'File with that password, in place of `SCHEMA_REGISTRY_PASSWORD`. This file, as every other one for the registry, is read again at each request.',
  }),
  SCHEMA_REGISTRY_TOKEN_FILE: optionalText({
    default: undefined,
    help: 'File with a bearer token for the schema registry, which something else renews.',
  }),
  SCHEMA_REGISTRY_OAUTH_TOKEN_URL: optionalUrl(['https:', 'http:'], {
    default: undefined,
    secret: 'password',
    help: 'Token endpoint that bearer tokens for the schema registry come from, by client credentials.',
  }),
  SCHEMA_REGISTRY_OAUTH_CLIENT_ID: optionalText({
    default: undefined,
    help: 'Client id at `SCHEMA_REGISTRY_OAUTH_TOKEN_URL`.',
  }),
  SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Secret of that client.',
  }),
  SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET_FILE: optionalText({
    default: undefined,
    help: 'File with that secret, in place of `SCHEMA_REGISTRY_OAUTH_CLIENT_SECRET`.',
  }),
  SCHEMA_REGISTRY_OAUTH_SCOPE: optionalText({ default: undefined, help: 'Scope that is asked for.' }),
  SCHEMA_REGISTRY_HEADERS: texts(
    'name=value, several separated by commas; names of HTTP headers',
    (item) => /^[\w-]+=[\x20-\x7e]+$/.test(item),
    {
      default: [],
      secret: 'all',
      help: 'Headers of requests to the schema registry, such as `target-sr-cluster=lsrc-…,confluent-identity-pool-id=pool-…` of Confluent Cloud.',
    },
  ),
  SCHEMA_REGISTRY_CA: optionalText({
    default: undefined,
    help: "File with the certificate authority that signed the schema registry's certificate (PEM).",
  }),
  SCHEMA_REGISTRY_CERT: optionalText({
    default: undefined,
    help: 'File with the certificate that the gateway shows to the schema registry (PEM).',
  }),
  SCHEMA_REGISTRY_KEY: optionalText({
    default: undefined,
    help: 'File with the key of `SCHEMA_REGISTRY_CERT` (PEM), not encrypted.',
  }),
} as const satisfies Record<string, Setting<unknown>>;

function isUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}
