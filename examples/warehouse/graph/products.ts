import DataLoader from 'dataloader';
import type { SharedContext } from 'sluice';
import type { Product } from './schema.types.ts';

/** One request for all products of an event that subscribers ask for; none if no subscriber does. */
export const loaders = (ctx: SharedContext<{ Backends: 'inventory' }>) => ({
  product: new DataLoader<string, Product | null>(async (ids) => {
    // This POST only reads, so it may be sent again.
    const found = await ctx.backends.inventory.post<Product[]>('/products', { ids }, { idempotent: true });
    const byId = new Map(found.map((product) => [String(product.product_id), product]));
    return ids.map((id) => byId.get(id) ?? null);
  }),
});
