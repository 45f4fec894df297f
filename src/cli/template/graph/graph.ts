import { defineGraph } from 'sluice';

const TAX = 0.2;

export default defineGraph({
  resolvers: {
    Order: {
      total_with_tax: ({ total_amount }: { total_amount?: number | null }) =>
        total_amount == null ? null : total_amount * (1 + TAX),
    },
  },
});
