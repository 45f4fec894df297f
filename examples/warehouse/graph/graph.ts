import { defineGraph } from 'sluice';
import { stockOf } from './envelope.ts';
import { loaders } from './products.ts';
import type { Types, Viewer } from './types.ts';

export default defineGraph<Types>({
  // The gateway has verified the token, by AUTH_SECRET or by the keys of an issuer.
  authenticate: (_params, _request, claims) => (claims ? viewerOf(claims) : null),

  backends: {
    inventory: { url: process.env.INVENTORY_URL ?? 'http://localhost:5000' },
  },
  loaders,

  decode: { 'inventory.public.stock': stockOf },

  resolvers: {
    // In events, times are ms since 1970.
    DateTime: { serialize: (ms) => new Date(Number(ms)).toISOString() },

    // In events, and in the database, letters.
    Quality: { SALEABLE: 'S', DAMAGED: 'D', QUARANTINED: 'Q' },

    Query: {
      stock: (_root, { product_id }, ctx) =>
        ctx.backends.inventory.get('/stock', { query: { product: product_id } }),
    },
    Stock: {
      product: ({ product_id }, _args, ctx) => ctx.loaders.product.load(String(product_id)),
    },
    Movement: {
      __resolveType: (movement) => ('carrier' in movement ? 'Departure' : 'Delivery'),
    },
    Alert: {
      is_mine: ({ raised_by }, _args, ctx) => raised_by === ctx.viewer.id,
    },
  },
});

function viewerOf({ sub, role, warehouses }: Readonly<Record<string, unknown>>): Viewer {
  return {
    id: String(sub),
    role: typeof role === 'string' ? role : 'picker',
    warehouses: Array.isArray(warehouses) ? warehouses.map(String) : [],
  };
}
