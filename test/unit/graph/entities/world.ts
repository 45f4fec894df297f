import { buildSchema, GraphQLObjectType, printSchema, type GraphQLSchema } from 'graphql';
import type { TestContext } from 'node:test';
import { loadGraph, type LoadedGraph } from '../../../../src/graph/loader/load-graph.ts';
import { graphFolder } from '../../../helpers/graph-folder.ts';
import { Subgraph } from '../../../helpers/subgraph.ts';

/** A graph with two subgraphs, for which the same data can be had from one local schema. */

const SCHEMA = `
  type Subscription { event: Event @event(topic: "orders") }
  enum Sort { NEW OLD }
  type Event {
    order_id: ID! status: String
    product: Product @reference(fields: "product_id")
    parts: [Product] @reference(fields: "part_ids")
    gift: Product
    strict_gift: Product!
    buyer: User @reference(fields: "buyer { id org { code } }")
    lines: [Line!]
  }
  type Line { count: Int product: Product! }
  type Product @key(fields: "upc") @entity(backend: "products") {
    upc: ID!
    price: Float
    size: Int
    name: String @fetched
    strict_name: String! @fetched
    reviews(first: Int = 2, sort: Sort): [Review!] @fetched
    loose_reviews: [Review] @fetched
    matrix: [[Review]!] @fetched
    related: [Product] @fetched
    maker: Party @fetched
    labelled: Labelled @fetched
    tags: [String] @fetched
  }
  interface Labelled { label: String }
  union Party = User | Company
  type Company implements Labelled { label: String city: String! }
  type Review { id: ID! body: String strict_body: String! sort: Sort author: User about: Product }
  type User implements Labelled @key(fields: "id org { code }") @entity(backend: "users") {
    id: ID!
    org: Org!
    label: String @fetched
    age: Int! @fetched
    favourite: Product @fetched
    friends(first: Int = 1): [User] @fetched
  }
  type Org { code: ID! }
`;

/** With what a router needs to compose it, and `price` and `size`, which it would find nowhere for a fetched product. */
export const COMPOSED = {
  products: `
    type Query { none: Int }
    enum Sort { NEW OLD }
    type Product @key(fields: "upc") {
      upc: ID! price: Float @shareable size: Int @shareable name: String strict_name: String!
      reviews(first: Int = 2, sort: Sort): [Review!] loose_reviews: [Review] matrix: [[Review]!] related: [Product]
      maker: Party tags: [String]
    }
    union Party = User | Company
    type Company { label: String city: String! }
    type Review { id: ID! body: String strict_body: String! sort: Sort author: User about: Product }
    type User @key(fields: "id org { code }", resolvable: false) { id: ID! org: Org! }
    type Org @shareable { code: ID! }
  `,
  users: `
    type Query { nothing: Int }
    type User @key(fields: "id org { code }") {
      id: ID! org: Org! label: String age: Int! favourite: Product friends(first: Int = 1): [User]
    }
    type Org @shareable { code: ID! }
    type Product @key(fields: "upc", resolvable: false) { upc: ID! }
  `,
};

const PRODUCTS = `
  type Query { none: Int }
  enum Sort { NEW OLD }
  type Product {
    upc: ID! name: String strict_name: String! reviews(first: Int = 2, sort: Sort): [Review!] loose_reviews: [Review]
    matrix: [[Review]!] related: [Product] maker: Party labelled: Labelled tags: [String]
  }
  interface Labelled { unused: Int }
  union Party = User | Company
  type Company implements Labelled { unused: Int label: String city: String! }
  type Review { id: ID! body: String strict_body: String! sort: Sort author: User about: Product }
  type User implements Labelled { unused: Int id: ID! org: Org! }
  type Org { code: ID! }
`;

const USERS = `
  type Query { none: Int }
  type User { id: ID! org: Org! label: String age: Int! favourite: Product friends(first: Int = 1): [User] }
  type Org { code: ID! }
  type Product { upc: ID! }
`;

const CODE = `
  import { defineGraph } from 'sluice';
  export default defineGraph({
    backends: { products: { url: 'http://products.invalid' }, users: { url: 'http://users.invalid' } },
  });
`;

type Fields = Readonly<Record<string, (source: never, args: never) => unknown>>;

/** Decides by a text, always alike: 0 ≤ result < count. */
function chosen(text: string, count: number): number {
  let hash = 2_166_136_261;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 2_246_822_519);
  return ((hash ^ (hash >>> 13)) >>> 0) % count;
}

const UPCS = ['p0', 'p1', 'p2', 'p3', 'p4', 'gone'];

type Place = string;
type StoreField = (place: Place, args: Readonly<Record<string, unknown>>) => unknown;

interface User {
  readonly id: string;
  readonly org: { readonly code: string };
}

/** The data of both subgraphs: each value follows from its place. */
class Store {
  readonly #hasFaults: boolean;

  /** @param hasFaults whether fields fail or are null, and entities are missing */
  constructor(hasFaults: boolean) {
    this.#hasFaults = hasFaults;
  }

  get product(): Fields {
    return this.#fields<{ upc: string }>(this.#product, ({ upc }) => (this.knows(upc) ? upc : undefined));
  }

  get user(): Fields {
    return this.#fields<User>(this.#user, (user) =>
      this.knowsUser(user) ? `${user.id}${user.org.code}` : undefined,
    );
  }

  knows(upc: string): boolean {
    return upc !== 'gone' || !this.#hasFaults;
  }

  knowsUser({ id, org }: User): boolean {
    return id !== 'u2' || org.code !== 'o1' || !this.#hasFaults;
  }

  readonly #product: Readonly<Record<string, StoreField>> = {
    name: (place) => `name ${place}`,
    strict_name: (place) => `strict ${place}`,
    reviews: (place, { first, sort }) =>
      listAt(`${place}${String(sort)}`, this.#review, 1).slice(0, Number(first)),
    loose_reviews: (place) => listAt(place, this.#orNull(this.#review)),
    matrix: (place) => listAt(place, (row) => listAt(row, this.#orNull(this.#review))),
    related: (place) => listAt(place, this.#orNull(productAt)),
    maker: (place) => this.#party(place),
    labelled: (place) => this.#party(place),
    tags: (place) =>
      listAt(
        place,
        this.#orNull((tag) => `tag ${tag}`),
      ),
  };

  readonly #user: Readonly<Record<string, StoreField>> = {
    label: (place) => `label ${place}`,
    age: (place) => chosen(`${place}#`, 90),
    favourite: productAt,
    friends: (place, { first }) => listAt(place, this.#orNull(userAt), 1).slice(0, Number(first)),
  };

  /** @param placeOf undefined for an entity that is missing */
  #fields<Source>(
    fields: Readonly<Record<string, StoreField>>,
    placeOf: (source: Source) => Place | undefined,
  ): Fields {
    return Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [
        name,
        (source: Source, args: object) => {
          const place = placeOf(source);
          return place === undefined
            ? null
            : this.#mayFail(`${place}.${name}`, field(`${place}.${name}`, { ...args }));
        },
      ]),
    );
  }

  readonly #review = (place: Place): object => ({
    id: place,
    body: this.#later(`${place}.body`, `body ${place}`),
    strict_body: this.#later(`${place}.strict_body`, `strict ${place}`),
    sort: ['NEW', 'OLD'][chosen(`${place}.sort`, 2)],
    author: this.#later(`${place}.author`, userAt(place)),
    about: productAt(`${place}.about`),
  });

  #party(place: Place): object {
    if (chosen(`${place}?`, 2) === 0) return userAt(place);
    return {
      __typename: 'Company',
      label: this.#later(`${place}.label`, `company ${place}`),
      city: this.#later(`${place}.city`, `city ${place}`),
    };
  }

  #orNull(item: (place: Place) => unknown): (place: Place) => unknown {
    return (place) => (this.#hasFaults && chosen(`${place}?`, 5) === 0 ? null : item(place));
  }

  #later(place: Place, value: unknown): () => unknown {
    return () => this.#mayFail(place, value);
  }

  #mayFail(place: Place, value: unknown): unknown {
    const choice = this.#hasFaults ? chosen(place, 8) : 7;
    if (choice === 0) return null;
    if (choice > 1) return value;
    throw new Error(`no ${place}`);
  }
}

function userAt(place: Place): object {
  return { __typename: 'User', id: `u${chosen(place, 3)}`, org: { code: `o${chosen(`${place}o`, 2)}` } };
}

function productAt(place: Place): object {
  return { upc: UPCS[chosen(place, UPCS.length)] };
}

function listAt(place: Place, item: (place: Place) => unknown, least = 0): unknown[] {
  return Array.from({ length: least + chosen(`${place}#`, 3) }, (_, index) => item(`${place}/${index}`));
}

export interface World {
  readonly graph: LoadedGraph;
  readonly products: Subgraph;
  readonly users: Subgraph;
  /** The same types, with resolvers that read the data of the subgraphs. */
  readonly whole: GraphQLSchema;
}

export async function worldOfEntities(t: Pick<TestContext, 'after'>, hasFaults = true): Promise<World> {
  const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'graph.ts': CODE });
  const graph = await loadGraph(folder);
  const store = new Store(hasFaults);
  const products = new Subgraph(PRODUCTS, { Product: store.product }, ['Product'], ({ upc }) =>
    store.knows(String(upc)) ? { upc } : null,
  );
  const users = new Subgraph(USERS, { User: store.user }, ['User'], (user) =>
    store.knowsUser(user as unknown as User) ? user : null,
  );
  const whole = buildSchema(printSchema(graph.schema));
  attach(whole, 'Product', store.product);
  attach(whole, 'User', store.user);
  attach(whole, 'Subscription', { event: (event: unknown) => event });
  attach(whole, 'Event', {
    product: ({ product_id: upc }: { product_id: unknown }) => (upc == null ? null : { upc }),
    parts: ({ part_ids: ids }: { part_ids: unknown[] | null }) =>
      ids?.map((upc) => (upc === null ? null : { upc })) ?? null,
  });
  return { graph, products, users, whole };
}

function attach(schema: GraphQLSchema, name: string, fields: Fields): void {
  const type = schema.getType(name);
  if (!(type instanceof GraphQLObjectType)) throw new TypeError(`expected a type ${name}`);
  for (const [field, resolve] of Object.entries(fields)) {
    Object.assign(type.getFields()[field] ?? {}, { resolve });
  }
}

/** An event with products and users, chosen at random. */
export function randomEvent(choose: (count: number) => number): Record<string, unknown> {
  const upc = (): string => UPCS[choose(UPCS.length)] ?? '';
  const product = () => ({ upc: upc(), price: choose(10), ...(choose(3) > 0 && { size: choose(5) }) });
  const orNull = (make: () => unknown): unknown => (choose(6) === 0 ? null : make());
  const several = (make: () => unknown): unknown[] => Array.from({ length: choose(4) }, make);
  return {
    order_id: choose(100),
    status: orNull(() => 'PAID'),
    product_id: orNull(upc),
    part_ids: orNull(() => several(() => orNull(upc))),
    gift: orNull(product),
    strict_gift: choose(12) === 0 ? null : product(),
    buyer: orNull(() => ({ id: `u${choose(3)}`, org: { code: `o${choose(2)}` } })),
    lines: several(() => ({ count: choose(3), product: product() })),
  };
}
