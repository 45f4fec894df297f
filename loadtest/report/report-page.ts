import { createHash } from 'node:crypto';
import { budgetTable, figureTable, type Table } from './comparison-tables.ts';
import { details, machine, title, versions } from './description.ts';
import { html } from './escape.ts';
import { SCRIPT } from './page-script.ts';
import { STYLE } from './page-style.ts';
import { svgs } from './plot-svg.ts';
import type { Report, Run } from './report.ts';
import { PLOTS, type Plot } from './plot-series.ts';

/** The page loads nothing, and runs only its own script, even if a text of the report holds another one. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`;

/** Returns the whole report as one page without further files. */
export function page(report: Report): string {
  const name = `${title(report.load)}: ${report.runs.map(({ target }) => target).join(' and ')}`;
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${html(POLICY)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Load test: ${html(name)}</title>`,
    `<style>${STYLE}</style>`,
    `<h1>Load test: ${html(name)}</h1>`,
    `<p class="faint">${html(details(report.load))}</p>`,
    faults(report.runs),
    '<h2>Figures</h2>',
    table(figureTable(report), 'figures'),
    '<h2>Budgets</h2>',
    table(budgetTable(report), 'budgets'),
    '<h2>Over time</h2>',
    ...PLOTS.map((plot) => plotted(plot, report.runs)),
    '<h2>How it was measured</h2>',
    origin(report),
    `<script>${SCRIPT}</script>`,
    '</html>',
    '',
  ].join('\n');
}

function faults(runs: readonly Run[]): string {
  const found = runs.flatMap(({ target, faults: all }) =>
    all.map((fault) => `<li>${html(`${target}: ${fault}`)}</li>`),
  );
  if (found.length === 0)
    return '<p><span class="good">✓</span> All that was to arrive did, in order, with the right content.</p>';
  return `<h2 class="bad">What was wrong with what arrived</h2>\n<ul class="faults">${found.join('\n')}</ul>`;
}

const CLASSES: Readonly<Record<string, string>> = { '✓': 'good', '✗': 'bad', '–': 'faint' };

function table({ columns, rows }: Table, name: 'figures' | 'budgets'): string {
  const head = columns.map((column) => `<th scope="col">${html(column)}</th>`).join('');
  const body = rows.map((row) => {
    const mark = name === 'budgets' ? CLASSES[row.at(-1)?.charAt(0) ?? ''] : undefined;
    const cells = row.map((cell, column) =>
      mark !== undefined && column === row.length - 1
        ? `<td class="${mark}">${html(cell)}</td>`
        : `<td>${html(cell)}</td>`,
    );
    return `<tr>${cells.join('')}</tr>`;
  });
  return `<div class="scroll"><table class="${name}"><thead><tr>${head}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table></div>`;
}

function plotted(plot: Plot, runs: readonly Run[]): string {
  const figures = svgs(plot, runs).map((svg, index) => {
    const run = runs[index];
    if (run === undefined) return '';
    const names = plot.of(run).map(({ name }) => name);
    const keys =
      names.length > 1 ? names.map((name, key) => `<span class="key key-${key}">${name}</span>`) : [];
    const caption = `<figcaption><b>${html(run.target)}</b> ${keys.join(' ')}</figcaption>`;
    return `<figure>${caption}\n${svg}\n<div class="value"></div></figure>`;
  });
  return `<section class="plot" data-plot="${plot.id}"><h3>${html(plot.title)}, ${html(plot.unit)}</h3>\n<div class="runs">${figures.join('\n')}</div></section>`;
}

function origin(report: Report): string {
  const rows = [
    ['Command', `<code>${html(report.commandLine)}</code>`],
    ['Commit', `<code>${html(report.commit)}</code>`],
    ['When', html(report.created)],
    ['Machine', html(machine(report.machine))],
    ['Versions', html(versions(report))],
  ];
  return `<dl>${rows.map(([term, text]) => `<dt>${term}</dt><dd>${text}</dd>`).join('\n')}</dl>`;
}
