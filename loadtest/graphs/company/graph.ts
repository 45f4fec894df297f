/**
 * As many back ends, loaders and primers as a company's graph has: the size at which it hurts to make all of them for
 * each event. No back end is called: only the gateway is measured.
 */
import { defineGraph, type GraphContext } from 'sluice';
import { BACKENDS, company } from './company.ts';

type Update = { readonly seq: string };

const backends = Object.fromEntries(
  Array.from({ length: BACKENDS }, (_, index) => [`backend${index}`, { url: 'http://127.0.0.1:1' }]),
);

export default defineGraph({
  backends,
  ...company,
  resolvers: {
    Update: {
      // One back end and one loader of all these: null, which the schema forbids, if they are not there.
      seq: (
        { seq }: Update,
        _args: unknown,
        { backends: { backend7 }, loaders: { loader07 } }: GraphContext,
      ) => (backend7 !== undefined && loader07 !== undefined ? seq : null),
    },
  },
});
