import { buildSchema, graphql } from 'graphql';
import { PROPERTIES } from './properties.ts';

interface District {
  readonly postal_code: string;
  readonly name: string;
  readonly average_price: { readonly value: number; readonly currency: string };
}

const NAMES = ['Jordaan', 'Altona', 'Lapa', 'Hampstead'];

const DISTRICTS: readonly District[] = PROPERTIES.map(({ address, askingPrice }, index) => ({
  postal_code: address.postalCode,
  name: `${NAMES[index]}, ${address.city}`,
  average_price: { ...askingPrice, value: Math.round(askingPrice.value / 1.1 / 1_000) * 1_000 },
}));

/** A subgraph as any GraphQL server with Apollo Federation has it. */
const schema = buildSchema(`
  scalar _Any
  union _Entity = District
  type Query {
    _entities(representations: [_Any!]!): [_Entity]!
    districts: [District!]!
  }
  type District { postal_code: ID! name: String average_price: Price }
  type Price { value: Int! currency: String! }
`);

const rootValue = {
  districts: DISTRICTS,
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
