import assert from 'node:assert/strict';
import { validateMessage } from 'graphql-ws';
import test from 'node:test';
import { withQueryText } from '../../../../src/transports/websocket/subscribe-message.ts';

const subscribe = (payload: unknown): Record<string, unknown> => ({ type: 'subscribe', id: '1', payload });

test('graphql-ws takes a subscribe that names a persisted document instead of a text', () => {
  for (const payload of [
    { documentId: 'a' },
    { documentId: 'a', query: null, variables: { n: 1 } },
    { extensions: { persistedQuery: { version: 1, sha256Hash: 'a' } } },
  ]) {
    assert.throws(() => validateMessage(subscribe(payload)), /'query'/);
    const message = withQueryText(subscribe(payload));
    assert.doesNotThrow(() => validateMessage(message));
    assert.deepEqual(message, subscribe({ ...payload, query: '' }));
  }
});

test('every other message is left as it is', () => {
  for (const message of [
    subscribe({ query: '{ a }', documentId: 'a' }),
    subscribe({ query: 3, documentId: 'a' }),
    subscribe({ variables: {} }),
    subscribe({ extensions: { persistedQuery: null } }),
    subscribe({ extensions: 'persistedQuery' }),
    subscribe({ extensions: ['persistedQuery'] }),
    subscribe([{ documentId: 'a' }]),
    subscribe(null),
    subscribe('documentId'),
    { type: 'ping', payload: { documentId: 'a' } },
  ]) {
    assert.equal(withQueryText(message), message, JSON.stringify(message));
  }
});
