import { budgetTable, figureTable } from '../comparison-tables.ts';
import { details, title } from '../description.ts';
import { markdown } from '../escape.ts';
import { markdownTable, originOf } from '../markdown.ts';
import type { Report } from '../report.ts';

/** Reports one load on all servers that it was put on. */
export function loadtestSection(report: Report): string {
  const budgets = budgetTable(report);
  const told = budgets.rows.filter((row) => !row.at(-1)?.startsWith('–'));
  return [
    `### ${markdown(title(report.load))}`,
    markdown(`${details(report.load)}.`),
    markdownTable(figureTable(report)),
    ...(told.length > 0
      ? [markdownTable({ ...budgets, rows: told }, ['left', 'right', 'right', 'left'])]
      : []),
    faults(report),
    originOf(report),
  ].join('\n\n');
}

function faults({ runs }: Report): string {
  const found = runs.flatMap(({ target, faults: all }) => all.map((fault) => `${target}: ${fault}`));
  if (found.length === 0) return 'All that was to arrive did, in order, with the right content.';
  return ['**What was wrong with what arrived:**', '', ...found.map((fault) => `- ${markdown(fault)}`)].join(
    '\n',
  );
}
