import assert from 'node:assert/strict';
import test from 'node:test';
import { acceptedBy, acceptsGzip } from '../../../../src/transports/http/accepted.ts';
import { EVENT_STREAM } from '../../../../src/transports/http/event-stream.ts';
import { MULTIPART } from '../../../../src/transports/http/multipart.ts';

const JSON_TYPE = 'application/json';

for (const [accept, wire, json] of [
  [undefined, undefined, true],
  ['*/*', undefined, true],
  ['text/html', undefined, false],
  [JSON_TYPE, undefined, true],
  ['text/event-stream', EVENT_STREAM, false],
  [`TEXT/EVENT-STREAM, ${JSON_TYPE}`, EVENT_STREAM, true],
  ['text/event-stream;q=0, application/graphql-response+json', undefined, true],
  // Apollo Client, and Apollo Kotlin.
  [`multipart/mixed;boundary=graphql;subscriptionSpec=1.0,${JSON_TYPE}`, MULTIPART, true],
  [`multipart/mixed;subscriptionSpec="1.0", ${JSON_TYPE}`, MULTIPART, true],
  // urql's for all operations: without the parameter it is for @defer.
  ['application/graphql-response+json, text/event-stream, multipart/mixed', EVENT_STREAM, true],
  [`multipart/mixed, ${JSON_TYPE}`, undefined, true],
  ['multipart/mixed;subscriptionSpec=2.0', undefined, false],
  ['multipart/mixed;subscriptionSpec=1.0;q=0.000', undefined, false],
  ['multipart/mixed;subscriptionSpec=1.0, text/event-stream', MULTIPART, false],
] as const) {
  test(`what "${accept}" takes`, () => {
    assert.deepEqual(acceptedBy(accept), { wire, json });
  });
}

for (const [header, expected] of [
  [undefined, false],
  ['', false],
  ['identity', false],
  ['*', false],
  ['gzip', true],
  ['br, GZIP;q=0.5', true],
  ['gzip; q=0', false],
  ['gzip;x=1;q=0.0', false],
] as const)
  test(`a client with accept-encoding: ${header} ${expected ? 'gets' : 'does not get'} gzip`, () => {
    assert.equal(acceptsGzip(header), expected);
  });
