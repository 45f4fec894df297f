import assert from 'node:assert/strict';
import test from 'node:test';
import type { Contexts, EventScope } from '../../../src/context/event-scope.ts';
import type { Message } from '../../../src/events/message.ts';
import { RecentScopes } from '../../../src/hub/recent-scopes.ts';

const contexts = {
  code: { loaders: {} },
  scopeOf: (event: unknown) => ({ event }) as unknown as EventScope,
} as unknown as Contexts;

const message: Message = { v: 1, t: 'bids', id: 'A', p: 0, o: 7, ts: 0, in: 1, key: null, event: { id: 1 } };

test('copies of an event have one scope, and the event at the same offset of a topic made anew has another', () => {
  const scopes = new RecentScopes(contexts);
  const first = scopes.of(message);
  assert.equal(scopes.of({ ...message, in: 2 }), first);
  assert.notEqual(scopes.of({ ...message, o: 8 }), first);
  assert.notEqual(scopes.of({ ...message, id: 'B' }), first);
});
