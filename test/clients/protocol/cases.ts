import { MAX_PAYLOAD_BYTES } from './server.ts';
import type { Script, Step } from './session.ts';
import {
  complete,
  connected,
  event,
  init,
  pingFrame,
  send,
  sendTogether,
  subscribe,
  unheardEvent,
  until,
  untilClosed,
  untilListeners,
} from './steps.ts';

const ITEM = 'subscription { item { n text } }';
const HELLO = '{ hello }';
const SLOW = '{ slow }';

const steps = (...given: readonly Step[]): Script => ({ steps: given });

/** On a connection that is acknowledged. */
const after = (...given: readonly Step[]): Script => ({ steps: [...connected, ...given] });

/** A message that closes the connection, or should. */
const message = (sent: unknown): Script => after(send(sent));

/** An operation that ends by itself. */
const operation = (query: string, more: object = {}, end = 'complete'): Script =>
  after(send(subscribe('1', query, more)), until(end, '1'));

const refused = (query: string, more: object = {}): Script => operation(query, more, 'error');

const offering = (...subprotocols: readonly string[]): Script => ({ steps: [], subprotocols });

/** What clients do, well and badly, by name. */
export const CASES: Readonly<Record<string, Script>> = {
  'no subprotocol is offered': offering(),
  'another subprotocol is offered': offering('graphql-of-tomorrow'),
  'the legacy subprotocol is offered beside it': offering('graphql-ws', 'graphql-transport-ws'),
  'the legacy subprotocol alone is offered': { steps: connected, subprotocols: ['graphql-ws'] },

  connection_init: steps(...connected),
  'connection_init with parameters': steps(send(init({ token: 'a' })), until('connection_ack')),
  'connection_init with null as its parameters': steps(send(init(null))),
  'connection_init with a text as its parameters': steps(send(init('token'))),
  'no connection_init': steps(untilClosed),
  'a second connection_init': after(send(init()), untilClosed),
  'a second connection_init before the acknowledgement': steps(
    sendTogether(init({ slow: true }), init()),
    untilClosed,
  ),
  'connection parameters that are refused': steps(send(init({ refuse: true })), untilClosed),
  'connection parameters that make the hook throw': steps(send(init({ fail: true })), untilClosed),
  'an acknowledgement that takes longer than the timeout of connection_init': steps(
    send(init({ slow: 'beyond the timeout' })),
    until('connection_ack'),
  ),
  'subscribe without connection_init': steps(send(subscribe('1', HELLO)), untilClosed),
  'subscribe before the acknowledgement': steps(
    sendTogether(init({ slow: true }), subscribe('1', HELLO)),
    untilClosed,
  ),
  'ping before connection_init': steps(send({ type: 'ping' }), until('pong')),

  'a text that is not JSON': message('subscribe'),
  null: message('null'),
  'a message without a type': message({ id: '1' }),
  'a message of an unknown type': message({ type: 'start', id: '1', payload: { query: HELLO } }),
  'a message that only servers send: next': message({ type: 'next', id: '1', payload: {} }),
  'a message that only servers send: connection_ack': message({ type: 'connection_ack' }),
  'a message that only servers send: error': message({
    type: 'error',
    id: '1',
    payload: [{ message: 'no' }],
  }),
  'subscribe with an empty id': message(subscribe('', HELLO)),
  'subscribe with a number as its id': message(subscribe(1, HELLO)),
  'subscribe without a query': message({ type: 'subscribe', id: '1', payload: {} }),
  'subscribe with a number as its query': message(subscribe('1', 1)),
  'subscribe with a list as its variables': message(subscribe('1', HELLO, { variables: [] })),
  'subscribe with a number as its operation name': message(subscribe('1', HELLO, { operationName: 1 })),
  'subscribe with a text as its extensions': message(subscribe('1', HELLO, { extensions: 'x' })),
  'subscribe with null for all that is optional': operation(HELLO, {
    variables: null,
    operationName: null,
    extensions: null,
  }),
  'subscribe with properties that the protocol does not know': after(
    send({ ...subscribe('1', HELLO, { more: 1 }), more: 1 }),
    until('complete', '1'),
  ),
  'complete with a number as its id': message(complete(1)),
  'a binary frame that holds text': after(
    send(Buffer.from(JSON.stringify(subscribe('1', HELLO)))),
    until('complete', '1'),
  ),
  'a binary frame that is not UTF-8': message(Buffer.from([0xff, 0xfe, 0xfd])),
  'a message that is too large': message(subscribe('1', `# ${'x'.repeat(MAX_PAYLOAD_BYTES)}\n${HELLO}`)),

  'ping with a payload': after(send({ type: 'ping', payload: { at: 'Grüße' } }), until('pong')),
  'ping with a text as its payload': message({ type: 'ping', payload: 'now' }),
  'pong without a ping': message({ type: 'pong', payload: { at: 1 } }),
  'pong with a text as its payload': message({ type: 'pong', payload: 'now' }),
  'a ping of WebSocket': after(pingFrame),

  'a query': operation('query Hello($name: String) { hello(name: $name) }', { variables: { name: 'Grüße' } }),
  'a mutation': operation('mutation { add(n: 1) }'),
  'a query whose field fails': operation('{ hello fails }'),
  'a query with a syntax error': refused('{ hello'),
  'an empty query': refused(''),
  'a subscription that is not valid': refused('subscription { item { nothing } }'),
  'a subscription of two fields': refused('subscription { item { n } other: item { n } }'),
  'a variable of another type': operation('mutation Add($n: Int!) { add(n: $n) }', {
    variables: { n: 'one' },
  }),
  'one of two operations by its name': operation('query A { hello } query B { slow }', {
    operationName: 'A',
  }),
  'two operations without a name': refused('query A { hello } query B { slow }'),
  'a name that no operation has': refused('query A { hello }', { operationName: 'B' }),
  'a document without an operation': refused('fragment F on Query { hello }'),

  'events in order': after(send(subscribe('1', ITEM)), event(1), event(2), event(3)),
  'an event whose field fails': after(send(subscribe('1', 'subscription { item { n fails } }')), event(1)),
  'two subscriptions': after(
    send(subscribe('1', ITEM)),
    untilListeners(1),
    send(subscribe('2', ITEM)),
    event(1, { listeners: 2, id: '2' }),
  ),
  'complete ends a subscription': after(
    send(subscribe('1', ITEM)),
    event(1),
    send(complete('1')),
    unheardEvent(2),
  ),
  'complete right after subscribe': after(sendTogether(subscribe('1', ITEM), complete('1')), unheardEvent(1)),
  'complete of an unknown operation': after(
    send(complete('9'), subscribe('1', HELLO)),
    until('complete', '1'),
  ),
  'complete twice': after(
    send(subscribe('1', ITEM)),
    event(1),
    send(complete('1'), complete('1')),
    unheardEvent(2),
  ),
  'complete before the result of a query': after(
    sendTogether(subscribe('1', SLOW), complete('1'), subscribe('2', SLOW)),
    until('complete', '2'),
  ),
  'an id that is in use by a subscription': after(
    send(subscribe('1', ITEM)),
    untilListeners(1),
    send(subscribe('1', HELLO)),
    untilClosed,
  ),
  'an id that is in use by a query': after(
    sendTogether(subscribe('1', SLOW), subscribe('1', HELLO)),
    untilClosed,
  ),
  'an id twice in one write': after(sendTogether(subscribe('1', ITEM), subscribe('1', ITEM)), untilClosed),
  'an id again after complete': after(
    send(subscribe('1', ITEM)),
    event(1),
    send(complete('1')),
    untilListeners(0),
    send(subscribe('1', ITEM)),
    event(2),
  ),
  'an id again in the write that completes it': after(
    send(subscribe('1', ITEM)),
    event(1),
    sendTogether(complete('1'), subscribe('1', HELLO)),
    until('complete', '1'),
  ),
  'an id again after an error': after(
    send(subscribe('1', '{ nothing }')),
    until('error', '1'),
    send(subscribe('1', ITEM)),
    event(1),
  ),
  'an operation that fails beside a subscription': after(
    send(subscribe('1', ITEM)),
    untilListeners(1),
    send(subscribe('2', '{ nothing }')),
    until('error', '2'),
    event(1),
  ),
};
