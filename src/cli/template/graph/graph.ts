import { defineGraph } from 'sluice';
import type { Resolvers } from './schema.types.ts';

const TAX = 0.2;

export default defineGraph<{ Resolvers: Resolvers }>({
  resolvers: {
    Order: {
      total_with_tax: ({ total_amount }) => (total_amount == null ? null : total_amount * (1 + TAX)),
    },
  },
});
