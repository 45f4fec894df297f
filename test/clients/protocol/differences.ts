/** Why Sluice does otherwise than the server of graphql-ws, by reason. Each case must differ. */
export const DIFFERENCES: readonly { readonly reason: string; readonly cases: readonly string[] }[] = [
  {
    reason: 'Clients of the legacy subprotocol are served, too.',
    cases: ['the legacy subprotocol alone is offered'],
  },
  {
    reason: 'Who can not be authenticated is refused; what was thrown is in the log, not at the client.',
    cases: ['connection parameters that make the hook throw'],
  },
  {
    reason: 'The client is at fault, not the server: the code says so.',
    cases: [
      'a message that only servers send: next',
      'a message that only servers send: connection_ack',
      'a message that only servers send: error',
    ],
  },
  {
    reason: 'The code of WebSocket for it, as ws has it for text frames.',
    cases: ['a binary frame that is not UTF-8'],
  },
  {
    reason: 'One bad document is an error of its operation; the others on the connection go on.',
    cases: ['a query with a syntax error', 'an empty query'],
  },
  {
    reason: 'What a resolver throws is for the log (MASK_ERRORS), and errors have a code.',
    cases: ['a query whose field fails', 'an event whose field fails'],
  },
  {
    reason: 'The words of graphql-js, which say what is wrong.',
    cases: ['two operations without a name', 'a name that no operation has'],
  },
  {
    reason: 'An id may be longer than the reason of a close frame can be.',
    cases: [
      'an id that is in use by a subscription',
      'an id that is in use by a query',
      'an id twice in one write',
    ],
  },
  {
    reason: 'The end of what the client has completed is not told to what has its id now.',
    cases: ['an id again in the write that completes it'],
  },
  {
    reason: 'The client is told what the bound is.',
    cases: ['a message that is too large'],
  },
];
