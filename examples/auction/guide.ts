import { buildASTSchema, graphql, parse } from 'graphql';
import { PROPERTIES } from './properties.ts';

interface District {
  readonly postal_code: string;
  readonly name: string;
  readonly prices: { readonly average: number; readonly currency: string };
}

const NAMES = ['Jordaan', 'Altona', 'Lapa', 'Hampstead'];

const DISTRICTS: readonly District[] = PROPERTIES.map(({ address, askingPrice }, index) => ({
  postal_code: address.postalCode,
  name: `${NAMES[index]}, ${address.city}`,
  prices: { average: Math.round(askingPrice.value / 1.1 / 1_000) * 1_000, currency: askingPrice.currency },
}));

/** The city guide as a router composes it with the auction house. */
export const GUIDE = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.4", import: ["@key"])
  type Query { districts: [District!]! }
  type District @key(fields: "postal_code") { postal_code: ID! name: String prices: DistrictPrices }
  type DistrictPrices { average: Int! currency: String! }
`;

/** A subgraph as any GraphQL server with Apollo Federation has it. */
const schema = buildASTSchema(
  parse(`${GUIDE}
    scalar _Any
    union _Entity = District
    extend type Query { _entities(representations: [_Any!]!): [_Entity]! _service: _Service! }
    type _Service { sdl: String! }
  `),
  { assumeValidSDL: true },
);

const rootValue = {
  districts: DISTRICTS,
  _service: { sdl: GUIDE },
  _entities: ({ representations }: { representations: readonly { readonly postal_code: string }[] }) =>
    representations.map(({ postal_code: code }) => {
      const district = DISTRICTS.find(({ postal_code }) => postal_code === code);
      return district === undefined ? null : { __typename: 'District', ...district };
    }),
};

/** Answers a request to the city guide. @param body as GraphQL clients send it by HTTP */
export async function askGuide(body: string): Promise<unknown> {
  const { query, variables } = JSON.parse(body) as { query: string; variables?: Record<string, unknown> };
  return graphql({ schema, source: query, rootValue, ...(variables && { variableValues: variables }) });
}
