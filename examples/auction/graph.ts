import { defineGraph } from 'sluice';

type Address = { line1: string; line2?: string; city: string; postal_code: string; country_code: string };
type Price = { value: number; currency: string };

/** Formats are costly to make and few. */
const formats = new Map<string, Intl.NumberFormat>();

export default defineGraph({
  resolvers: {
    Address: {
      formatted: ({ line1, line2, city, postal_code, country_code }: Address) =>
        [line1, line2, `${postal_code} ${city}`, country_code].filter(Boolean).join(', '),
    },
    Price: {
      formatted: ({ value, currency }: Price) => formatOf(currency).format(value),
    },
  },
});

function formatOf(currency: string): Intl.NumberFormat {
  let format = formats.get(currency);
  if (format === undefined) {
    format = new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: 0 });
    // Currencies come from events: should those go wild, this must not grow with them.
    if (formats.size < 200) formats.set(currency, format);
  }
  return format;
}
