import { describe } from 'node:test';
import { graphJs, testCases } from './cases.ts';

const CODE = graphJs("{ backends: { shop: { url: 'http://shop.invalid/graphql' } } }");

const EVENTS = 'type Subscription { order: Order @event(topic: "orders") }';

const order = (product: string, type: string) => `${EVENTS}
type Order { id: ID, product_id: ID, product_ids: [ID], ${product} }
${type}`;

const KEYED = 'type Product @key(fields: "upc") @entity(backend: "shop")';
const PRODUCT = `${KEYED} { upc: ID!, price: Float, name: String @fetched }`;

describe('sluice check, of entities,', () => {
  testCases({
    'an entity that is joined': [
      order('product: Product @reference(fields: "product_id")', PRODUCT),
      [],
      CODE,
    ],
    'a list of entities': [order('products: [Product] @reference(fields: "product_ids")', PRODUCT), [], CODE],
    'a key with objects': [
      order(
        'product: Product @reference(fields: "product { id shop { code } }")',
        `type Product @key(fields: "id shop { code }") @entity(backend: "shop") { id: ID!, shop: Shop!, n: Int @fetched }
         type Shop { code: ID! }`,
      ),
      [],
      CODE,
    ],
    'a lookup': [
      order(
        'product: Product',
        `type Product @key(fields: "upc")
        @entity(backend: "shop", lookup: "product(upc: $upc)") { upc: ID!, name: String @fetched }`,
      ),
      [],
      CODE,
    ],
    'keys without entities, for other services': [
      order('product: Product', 'type Product @key(fields: "upc") { upc: ID! name: String }'),
      [],
    ],
    'a key of fields that are not there': [
      order('product: Product', 'type Product ›@key(fields: "sku brand { id }") { sku: ID!, upc: ID }'),
      '@key: Product has no field "brand" → Its fields: sku and upc.',
    ],
    'a key that is no field set': [
      order('product: Product', 'type Product ›@key(fields: "upc(") ›@key(fields: "a: upc") { upc: ID }'),
      [
        '@key: Syntax Error: Expected Name, found "}". → Write @key(fields: "id")',
        '@key: expected names of fields, such as "id organization { id }", got "a: upc"',
      ],
    ],
    'a key of objects, and one of a list': [
      order(
        'product: Product',
        'type Product ›@key(fields: "shop") ›@key(fields: "tags") { shop: Shop, tags: [ID] } type Shop { id: ID }',
      ),
      [
        '@key: Product.shop is of type Shop → A key consists of scalars',
        '@key: Product.tags is of type [ID] → A key consists of scalars',
      ],
    ],
    'a key that is fetched': [
      order(
        'product: Product',
        `type Product ›@key(fields: "upc") @entity(backend: "shop") { upc: ID @fetched }`,
      ),
      "@key: Product.upc is fetched by the key, so it can't be part of it",
      CODE,
    ],
    'a ttl_seconds of nonsense': [
      order(
        'product: Product',
        'type Product @key(fields: "upc") ›@entity(backend: "shop", ttl_seconds: -1) { upc: ID, n: Int @fetched }',
      ),
      '@entity on Product: expected ttl_seconds from 1 to 86400, got -1 → Leave it out',
      CODE,
    ],
    'an unknown back end': [
      order(
        'product: Product',
        'type Product @key(fields: "upc") ›@entity(backend: "shops") { upc: ID, n: Int @fetched }',
      ),
      '@entity on Product: the graph has no back end "shops" → Back ends of graph.ts: shop.',
      CODE,
    ],
    'an entity without a key': [
      order('product: Product', 'type Product ›@entity(backend: "shop") { upc: ID, n: Int @fetched }'),
      'Product has @entity, but no @key by which it could be fetched → Write @key',
      CODE,
    ],
    'an entity of which nothing is fetched': [
      order('product: Product', 'type Product @key(fields: "upc") ›@entity(backend: "shop") { upc: ID }'),
      'Product has @entity, but no field with @fetched → Write @fetched behind',
      CODE,
    ],
    'a lookup by something else than the key': [
      order(
        'product: Product',
        'type Product @key(fields: "upc") ›@entity(backend: "shop", lookup: "product(id: $id)") { upc: ID, n: Int @fetched }',
      ),
      '@entity on Product: expected a query field with its arguments as lookup, got $id in "product(id: $id)" → upc',
      CODE,
    ],
    'a fetched field of a type that no back end has': [
      order('product: Product', 'type Product @key(fields: "upc") { upc: ID, n: Int ›@fetched }'),
      'Product.n has @fetched, but Product has no @entity that names its back end → Write type Product',
    ],
    'a fetched field with a resolver': [
      order('product: Product', `${KEYED} { upc: ID, n: Int ›@fetched }`),
      'Product.n has @fetched, and a resolver → Leave one of them out',
      graphJs(
        "{ backends: { shop: { url: 'http://shop.invalid' } }, resolvers: { Product: { n: () => 1 } } }",
      ),
    ],
    'a reference to a type without a key': [
      order('product: Product ›@reference(fields: "product_id")', 'type Product { upc: ID }'),
      '@reference on Order.product: Product is no object type with @key → Write @key',
    ],
    'references with too few and too many fields': [
      order(
        'product: Product ›@reference(fields: "product_id") products: [Product] ›@reference(fields: "product_ids brand_ids")',
        'type Product @key(fields: "upc brand") { upc: ID, brand: ID }',
      ),
      [
        '@reference on Order.product: expected 2, got 1 → The key of Product is upc and brand',
        '@reference on Order.products: expected one field, which holds a list of keys, got 2',
      ],
    ],
    'a filter, a key and conflation by what no event holds': [
      `type Subscription {
        order: Order @event(topic: "orders", key: ›"product.name", argument: "name")
          @filter(where: { product: { ›name: { eq: "Lamp" } } })
          @delivery(conflateBy: ›"product.name", throttleMs: 100)
      }
      type Order { product: Product }
      ${PRODUCT}`,
      [
        'key "product.name": Product has no field "name" → upc',
        '@filter: Product has no field "name" to filter on → upc',
        'conflateBy "product.name": Product has no field "name" → Fields of Product: upc and price.',
      ],
      CODE,
    ],
    'names in camelCase that are fetched': [
      order('product: Product', `${KEYED} { upc: ID, fullName: String @fetched }`),
      [],
      CODE,
    ],
    'a key in camelCase, which events hold': [
      order('product: Product', `type Product @key(fields: "productId") { ›productId: ID }`),
      'Product.productId can never be filled: keys of events become snake_case before they get here → @event(keys: KEEP)',
    ],
    'a field that only events hold, but that can not be null': [
      order(
        'product: Product @reference(fields: "product_id")',
        `${KEYED} { upc: ID, ›size: Int!, n: Int @fetched }`,
      ),
      "warning: Product.size can't be null, but only events hold it → (product)",
      CODE,
    ],
    'directives of Apollo Federation': [
      order(
        'product: Product',
        'type Product @key(fields: "upc") { upc: ID, size: Int ›@external, n: Int ›@requires(fields: "size") }',
      ),
      [
        'Unknown directive "@external". → @fetched',
        'Unknown directive "@requires". → the subgraph reads them itself',
      ],
    ],
  });
});
