import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { snakeCase } from '../../../src/events/snake-case.ts';
import { isSnakeCase } from '../../../src/graph/event-type.ts';

/** What a key of an event is called in the graph. */
const TABLE = {
  camelCase: 'camel_case',
  userID: 'user_id',
  userIDs: 'user_ids',
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
      assert.equal(snakeCase(key), name);
      assert.equal(isSnakeCase(name), true, name);
      assert.equal(isSnakeCase(key), key === name, key);
    }
  });
});
