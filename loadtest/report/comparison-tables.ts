import { judge, type Judgement } from './budgets.ts';
import { FIGURES, ratio, type Figure } from './figures.ts';
import type { Report, Run } from './report.ts';
import { amount, comparison, limitOf, MARKS, withUnit } from './units.ts';

/** The cells of a table as text, the same for terminal, page and Markdown. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Runs side by side, one row for each figure, with a comparison of two runs. */
export function figureTable({ runs }: Report): Table {
  const [one, other] = pair(runs);
  const rows = Object.values(FIGURES).map((figure: Figure) => [
    figure.unit === '' ? figure.name : `${figure.name}, ${figure.unit}`,
    ...runs.map((run) => amount(figure.of(run))),
    ...(other ? [comparison(ratio(figure, one, other))] : []),
  ]);
  const beside = one && other ? [`${one.target} beside ${other.target}`] : [];
  return { columns: ['figure', ...runs.map(({ target }) => target), ...beside], rows };
}

/** One row for each budget: its limit, the measured value, and whether it is met, or why it was not measured. */
export function budgetTable(report: Report): Table {
  return { columns: ['budget', 'limit', 'measured', ''], rows: judge(report).map(budgetRow) };
}

export function budgetRow(judgement: Judgement): readonly string[] {
  const { budget, value, verdict, reason } = judgement;
  return [
    budget.name,
    limitOf(judgement),
    withUnit(value, budget.unit),
    [MARKS[verdict], verdict, reason === undefined ? '' : `(${reason})`].join(' ').trim(),
  ];
}

/** Sluice and stock if the report has them, else the first run and the last one. */
function pair(runs: readonly Run[]): readonly [Run | undefined, Run | undefined] {
  const one = runs.find(({ target }) => target === 'sluice') ?? runs[0];
  const others = runs.filter((run) => run !== one);
  return [one, others.find(({ target }) => target === 'stock') ?? others.at(-1)];
}
