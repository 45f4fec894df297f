import {
  choice,
  flag,
  optionalChoice,
  optionalRegion,
  optionalText,
  optionalUrl,
  texts,
  type Setting,
} from '../types.ts';

/** Settings for TLS and authentication at brokers. Files are read again at each connection. */
export const KAFKA_ACCESS_SETTINGS = {
  KAFKA_TLS: flag({ default: false, help: 'Connect to Kafka over TLS.' }),
  KAFKA_CA: optionalText({
    default: undefined,
    help: "File with the certificate authority that signed the brokers' certificates (PEM).",
  }),
  KAFKA_CERT: optionalText({
    default: undefined,
    help: 'File with the certificate that the gateway shows to brokers, then those of authorities in between (PEM). This file, as every other one for Kafka, is read again at [each connection](../operations/kafka-security.md).',
  }),
  KAFKA_KEY: optionalText({ default: undefined, help: 'File with the key of `KAFKA_CERT` (PEM).' }),
  KAFKA_KEY_PASSPHRASE: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Passphrase of `KAFKA_KEY`, if it is encrypted.',
  }),
  KAFKA_KEY_PASSPHRASE_FILE: optionalText({
    default: undefined,
    help: 'File with that passphrase, in place of `KAFKA_KEY_PASSPHRASE`.',
  }),
  KAFKA_SASL_MECHANISM: optionalChoice(
    ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer', 'aws-msk-iam'],
    {
      default: undefined,
      help: 'SASL mechanism of the connection to Kafka. With `aws-msk-iam`, tokens for `oauthbearer` are signed with AWS credentials.',
    },
  ),
  KAFKA_SASL_USERNAME: optionalText({ default: undefined, help: 'User name for Kafka.' }),
  KAFKA_SASL_USERNAME_FILE: optionalText({
    default: undefined,
    help: 'File with that user name, in place of `KAFKA_SASL_USERNAME`.',
  }),
  KAFKA_SASL_PASSWORD: optionalText({ default: undefined, secret: 'all', help: 'Password for Kafka.' }),
  KAFKA_SASL_PASSWORD_FILE: optionalText({
    default: undefined,
    help: 'File with that password, in place of `KAFKA_SASL_PASSWORD`.',
  }),
  KAFKA_OAUTH_TOKEN_FILE: optionalText({
    default: undefined,
    help: 'File with the token for `oauthbearer`, which something else renews.',
  }),
  KAFKA_OAUTH_TOKEN_URL: optionalUrl(['https:', 'http:'], {
    default: undefined,
    secret: 'password',
    help: 'Token endpoint that tokens for `oauthbearer` come from, by client credentials, in place of `KAFKA_OAUTH_TOKEN_FILE`.',
  }),
  KAFKA_OAUTH_CLIENT_ID: optionalText({
    default: undefined,
    help: 'Client id at `KAFKA_OAUTH_TOKEN_URL`.',
  }),
  KAFKA_OAUTH_CLIENT_SECRET: optionalText({
    default: undefined,
    secret: 'all',
    help: 'Secret of that client.',
  }),
  KAFKA_OAUTH_CLIENT_SECRET_FILE: optionalText({
    default: undefined,
    help: 'File with that secret, in place of `KAFKA_OAUTH_CLIENT_SECRET`.',
  }),
  KAFKA_OAUTH_CLIENT_AUTH: choice(['basic', 'post'], {
    default: 'basic',
    help: 'How the client id and its secret are sent: in the header `Authorization`, or in the body.',
  }),
  KAFKA_OAUTH_SCOPE: optionalText({ default: undefined, help: 'Scope that is asked for.' }),
  KAFKA_OAUTH_AUDIENCE: optionalText({
    default: undefined,
    help: 'Audience that is asked for, where the endpoint wants one.',
  }),
  KAFKA_OAUTH_EXTENSIONS: texts(
    'name=value, several separated by commas; names of letters',
    // RFC 7628 allows these names, and reserves `auth`.
    (item) => /^(?!auth=)[a-zA-Z]+=[\x20-\x7e\t\r\n]+$/.test(item),
    {
      default: [],
      help: 'SASL extensions that go with the token, such as `logicalCluster=lkc-…,identityPoolId=pool-…` of Confluent Cloud.',
    },
  ),
  KAFKA_AWS_REGION: optionalRegion({
    default: undefined,
    help: 'Region of the Amazon MSK cluster, for `aws-msk-iam`.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
