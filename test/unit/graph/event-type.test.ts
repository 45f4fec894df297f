import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSnakeCase, snakeCaseOf } from '../../../src/graph/event-type.ts';

/** What ingest makes of keys. */
const TABLE = {
  camelCase: 'camel_case',
  userID: 'user_id',
  HTTPServer: 'http_server',
  address2: 'address2',
  line2Text: 'line2_text',
  _privateKey: '_private_key',
  __typename: '__typename',
  already_snake_2: 'already_snake_2',
  ID: 'id',
};

describe('names that snake_case events can fill', () => {
  it('are those that snake-casing makes', () => {
    for (const [key, name] of Object.entries(TABLE)) {
      assert.equal(snakeCaseOf(key), name);
      assert.equal(isSnakeCase(name), true, name);
      assert.equal(isSnakeCase(key), key === name, key);
    }
  });
});
