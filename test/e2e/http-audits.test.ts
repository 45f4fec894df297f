import assert from 'node:assert/strict';
import { serverAudits } from 'graphql-http';
import { describe, it } from 'node:test';
import { sharedGateway } from '../helpers/shared-gateway.ts';
import { startItems } from './graph-gateway.ts';

const shared = sharedGateway(startItems);

const audits = serverAudits({
  url: async () => `${(await shared()).httpUrl}/graphql`,
  fetchFn: fetch,
});

describe('GraphQL over HTTP, by the audits of graphql-http', () => {
  for (const audit of audits) {
    it(`${audit.id}: ${audit.name}`, async () => {
      const result = await audit.fn();
      assert.equal(result.status, 'ok', result.status === 'ok' ? '' : result.reason);
    });
  }

  it('has audits of what a server must, should and may do', () => {
    const names = new Set(audits.map(({ name }) => name.split(' ', 1)[0]));
    for (const word of ['MUST', 'SHOULD', 'MAY']) assert.ok(names.has(word), word);
    assert.ok(audits.length >= 61, `${audits.length} audits`);
  });
});
