import { choice, flag, optionalText, type Setting } from '../types.ts';

/** Settings for documents that clients send, for introspection, and for error messages. */
export const DOCUMENTS_SETTINGS = {
  PERSISTED_DOCUMENTS: optionalText({
    default: undefined,
    help: 'File with the documents that clients may name by an id: the manifest of Apollo, that of Relay, or any JSON object of ids and texts.',
  }),
  PERSISTED_DOCUMENTS_ONLY: flag({
    default: false,
    help: 'Execute persisted documents only: texts that clients send are refused.',
  }),
  INTROSPECTION: choice(['true', 'false', 'viewers'], {
    default: 'true',
    help: 'Who may read the schema (`__schema`, `__type`): all clients, none, or viewers of whom something is known, as `authenticate` has returned an object that is not empty. Unless it is `true`, errors suggest no names.',
  }),
  MASK_ERRORS: flag({
    default: true,
    help: 'What a graph throws is `Internal server error` for clients unless it is a `GraphQLError`: the message is in the log. `false`: clients read the message too.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
