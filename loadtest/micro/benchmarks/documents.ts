import assert from 'node:assert/strict';
import { parse, print, validate, type DocumentNode, type GraphQLSchema } from 'graphql';
import { Executor } from '../../../src/executor/executor.ts';
import { createLog } from '../../../src/log.ts';
import type { Case, Variant } from '../bench.ts';
import { auctionGraph } from '../hub-parts.ts';

const QUERIES: Readonly<Record<string, string>> = {
  'small document': 'subscription { property_update { property_id headline } }',
  'large document': `
    subscription Everything($property_id: ID!) {
      property_update(property_id: $property_id) {
        property_id updated_at changed_fields headline property_type bedrooms bathrooms living_area_m2
        address { ...Address }
        asking_price { ...Price }
        agent { agent_id display_name agency_name phone_number }
        photos { photo_id url caption is_cover }
      }
    }
    fragment Address on Address {
      line1 line2 city postal_code country_code formatted location { latitude longitude }
    }
    fragment Price on Price { value currency formatted }`,
};

function variant(name: string, documentOf: () => DocumentNode): Variant {
  return {
    name,
    sample: () => print(documentOf()),
    ready: (operations) => () => {
      let definitions = 0;
      for (let n = 0; n < operations; n += 1) definitions += documentOf().definitions.length;
      return definitions;
    },
  };
}

function parsed(schema: GraphQLSchema, query: string): DocumentNode {
  const document = parse(query);
  assert.equal(validate(schema, document).length, 0);
  return document;
}

function prepared(executor: Executor, query: string): DocumentNode {
  const operation = executor.prepare(query);
  assert.ok('document' in operation);
  return operation.document;
}

/** Prepares a subscriber's document: from its text to an operation that can be executed. */
export const cases: readonly Case[] = Object.entries(QUERIES).map(([name, query]) => ({
  name,
  unit: 'document',
  open: async () => {
    const { schema } = await auctionGraph();
    const executor = new Executor({ schema, cacheSize: 100, log: createLog('silent') });
    return {
      variants: [
        variant('parse and validate each time', () => parsed(schema, query)),
        variant('Executor.prepare, known', () => prepared(executor, query)),
      ],
    };
  },
}));
