import type { Unit } from './figures.ts';
import type { Judgement } from './budgets.ts';

/** Formats by digits after the point. They are made only once: a plot has thousands of numbers. */
const FORMATS = [0, 1, 2, 3].map((digits) => new Intl.NumberFormat('en', { maximumFractionDigits: digits }));

/** Three significant digits, with separators of thousands; – if not measured. */
export function amount(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return `${value < 0 ? '-' : ''}< 0.001`;
  const digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return FORMATS[digits]?.format(value) ?? String(value);
}

export function withUnit(value: number | null, unit: Unit | '×'): string {
  const gap = unit === '' || unit === '×' || unit === '/s' || value === null ? '' : ' ';
  return value === null ? '–' : `${amount(value)}${gap}${unit}`;
}

/** Compares a figure with the one that it was divided by: 0.116 gives `8.6× less`. */
export function comparison(quotient: number | null): string {
  if (quotient === null || quotient <= 0) return '–';
  if (amount(quotient) === '1') return 'the same';
  return quotient < 1 ? `${amount(1 / quotient)}× less` : `${amount(quotient)}× more`;
}

export function limitOf({ budget, limit }: Judgement): string {
  return `${budget.direction === 'at most' ? '≤' : '≥'} ${withUnit(limit, budget.unit)}`;
}

export const MARKS: Readonly<Record<Judgement['verdict'], string>> = {
  met: '✓',
  missed: '✗',
  'not measured': '–',
};
