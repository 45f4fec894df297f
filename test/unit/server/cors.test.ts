import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cors } from '../../../src/server/cors.ts';
import { OriginCheck } from '../../../src/server/origin-check.ts';

const APP = 'https://app.example';

const corsOf = (...origins: string[]): Cors => new Cors(new OriginCheck(origins));

const readBy = (cors: Cors, origin?: string): unknown => {
  const { 'access-control-allow-origin': allowed, 'access-control-allow-credentials': credentials } =
    cors.headersFor({ host: 'live.example', ...(origin !== undefined && { origin }) });
  return { allowed, credentials };
};

describe('Cors', () => {
  it('lets a page whose origin is listed by name read responses, with cookies too', () => {
    assert.deepEqual(readBy(corsOf(APP), APP), { allowed: APP, credentials: 'true' });
  });

  it('lets no page send cookies whose origin is allowed as any other is', () => {
    for (const origin of [APP, 'null']) {
      assert.deepEqual(readBy(corsOf('*'), origin), { allowed: origin, credentials: undefined });
    }
    // Over plain HTTP somebody in between may have written the page.
    const own = 'http://live.example';
    assert.deepEqual(readBy(corsOf(), own), { allowed: own, credentials: undefined });
  });

  it('lets a page that is refused read why, without cookies', () => {
    for (const origin of ['https://evil.example', 'null', `${APP}, ${APP}`, `${APP}:443`, `${APP}.`]) {
      assert.deepEqual(readBy(corsOf(APP), origin), { allowed: '*', credentials: undefined });
    }
  });

  it('says nothing to clients that are no browsers but that responses differ', () => {
    assert.deepEqual(corsOf(APP).headersFor({ host: 'live.example' }), {
      vary: 'Origin',
      'access-control-expose-headers': 'retry-after, www-authenticate',
    });
  });

  it('lets a page send the headers that it asks for, and says that the response depends on them', () => {
    const asked = { 'access-control-request-headers': 'apollo-require-preflight,traceparent' };
    assert.deepEqual(corsOf(APP).preflightFor({ origin: APP, ...asked }), {
      'access-control-allow-origin': APP,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'apollo-require-preflight,traceparent',
      'access-control-max-age': '7200',
      vary: 'Origin, Access-Control-Request-Headers',
    });
  });

  it('has a page that is refused ask again each time, since its origin may be listed meanwhile', () => {
    const preflight = corsOf(APP).preflightFor({ origin: 'https://evil.example' });
    assert.equal(preflight['access-control-max-age'], '0');
  });
});
