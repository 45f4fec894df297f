import { judge } from './budgets.ts';
import { markdownTable } from './markdown.ts';
import { title } from './description.ts';
import { FIGURES } from './figures.ts';
import type { Report } from './report.ts';
import { KINDS, type Kind, type Results } from './result-files.ts';
import { ladderSection } from './sections/ladder-section.ts';
import { loadtestSection } from './sections/load-section.ts';
import { tablesSection } from './sections/tables-section.ts';
import { limitOf, MARKS, withUnit } from './units.ts';

/** Prose in Markdown, written by hand: the introduction, and a text after the results of each kind. */
export type Notes = Readonly<Partial<Record<'introduction' | Kind, string>>>;

const HEADINGS: Readonly<Record<Kind, string>> = {
  loadtest: 'Load tests',
  ladder: 'The ladder',
  heap: 'What an idle socket holds',
  cycles: 'Coming and leaving',
  storm: 'Coming back all at once',
  chaos: 'What is lost when things fail',
  growth: 'More pods, more masters',
  shapes: 'One figure for each way in which events come',
  drivers: 'Kafka clients',
  micro: 'Parts by themselves',
};

/** Returns the whole text of RESULTS.md, always the same for the same results and notes. */
export function resultsMarkdown(results: Results, notes: Notes): string {
  const sections: Readonly<Record<Kind, readonly string[]>> = {
    loadtest: results.loadtest.map(loadtestSection),
    ladder: results.ladder.map(ladderSection),
    heap: results.heap.map(tablesSection),
    cycles: results.cycles.map(tablesSection),
    storm: results.storm.map(tablesSection),
    chaos: results.chaos.map(tablesSection),
    growth: results.growth.map(tablesSection),
    shapes: results.shapes.map(tablesSection),
    drivers: results.drivers.map(tablesSection),
    micro: results.micro.map(tablesSection),
  };
  const parts = [
    '<!-- Written by `yarn loadtest report`, from results and from loadtest/notes. What is changed here is lost. -->',
    '# Results',
    ...note(notes.introduction),
    ...(results.loadtest.length > 0 ? ['## Budgets', atAGlance(results.loadtest), meanings()] : []),
    ...KINDS.flatMap((kind) =>
      sections[kind].length === 0 ? [] : [`## ${HEADINGS[kind]}`, ...sections[kind], ...note(notes[kind])],
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Lists every budget once for each load that is fit for it. */
function atAGlance(reports: readonly Report[]): string {
  const judged = reports.flatMap((report) => judge(report).map((judgement) => ({ report, judgement })));
  const names = [...new Set(judged.map(({ judgement }) => judgement.budget.name))];
  const rows = names.flatMap((name) => {
    const of = judged.filter(({ judgement }) => judgement.budget.name === name);
    const told = of.filter(({ judgement }) => judgement.verdict !== 'not measured');
    return (told.length > 0 ? told : of.slice(0, 1)).map(({ report, judgement }) => {
      const { verdict, value, budget } = judgement;
      const where = verdict === 'not measured' ? '–' : title(report.load);
      return [name, limitOf(judgement), withUnit(value, budget.unit), `${MARKS[verdict]} ${verdict}`, where];
    });
  });
  return markdownTable({ columns: ['budget', 'limit', 'measured', '', 'load'], rows }, [
    'left',
    'right',
    'right',
    'left',
    'left',
  ]);
}

function meanings(): string {
  const lines = Object.values(FIGURES).map(({ name, meaning }) => `- _${name}_: ${meaning}`);
  return ['What the figures mean. KB and MB are 1,000 and 1,000,000 bytes.', lines.join('\n')].join('\n\n');
}

const note = (text: string | undefined): readonly string[] => (text?.trim() ? [text.trim()] : []);
