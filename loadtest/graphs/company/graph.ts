/**
 * A graph with as many back ends, loaders and primers as a company has, so that it would be costly to make all of them
 * for each event. No back end is called: only the gateway is measured.
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
      // Reads one back end and one loader. If one is missing, the result is null, which the schema forbids.
      seq: (
        { seq }: Update,
        _args: unknown,
        { backends: { backend7 }, loaders: { loader07 } }: GraphContext,
      ) => (backend7 !== undefined && loader07 !== undefined ? seq : null),
    },
  },
});
