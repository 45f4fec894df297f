/**
 * Plots as SVG on D3's scales. Observable Plot and D3's axes need a DOM, and uPlot draws on a canvas, by a script of
 * the page. Vega-Lite renders SVG without a DOM; but with phase labels and values at the pointer it takes as many
 * lines as this file, and some 70 packages of 25 MB.
 */
import { scaleLinear, type ScaleLinear } from 'd3-scale';
import { PHASES } from './description.ts';
import { html } from './escape.ts';
import type { Phase, Run } from './report.ts';
import type { Plot, Series } from './plot-series.ts';
import { amount } from './units.ts';

const WIDTH = 560;
const HEIGHT = 250;
const LEFT = 62;
const RIGHT = WIDTH - 24;
const TOP = 46;
const BOTTOM = HEIGHT - 36;

/** The approximate width of a letter in a phase's label, at the larger size on small screens. */
const LETTER = 8.5;

const LABEL_LINES = [14, 32];

/** The approximate number of ticks on an axis: D3 takes the round step that comes closest. */
const TICKS = 5;

type Scale = ScaleLinear<number, number>;

interface Axes {
  readonly time: Scale;
  readonly value: Scale;
}

/** Draws a plot for each run, all with the same axes, so that readers can compare them by eye. */
export function svgs(plot: Plot, runs: readonly Run[]): readonly string[] {
  const drawn = runs.map((run) => ({ run, series: plot.of(run) }));
  const points = drawn.flatMap(({ series }) => series.flatMap((one) => one.points));
  const ends = [
    ...points.map(({ at }) => at),
    ...runs.flatMap(({ phases }) => phases.map(({ to }) => to / 1_000)),
  ];
  const axes = {
    // The axis ends with the run: a round end would leave empty space.
    time: scaleTo(highest(ends)).range([LEFT, RIGHT]),
    value: scaleTo(highest(points.map(({ value }) => value)))
      .nice(TICKS)
      .range([BOTTOM, TOP]),
  };
  return drawn.map(({ run, series }) => svg(plot, run, series, axes));
}

/** Begins with 0. Ends with 1 if there are no values, so that the axis can still be drawn. */
function scaleTo(highestValue: number): Scale {
  return scaleLinear().domain([0, highestValue || 1]);
}

function svg(plot: Plot, run: Run, series: readonly Series[], axes: Axes): string {
  const label = `${plot.title} of ${run.target} in ${plot.unit}, over seconds`;
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${html(label)}" data-points="${html(hoverData(plot, series, axes))}">`,
    bands(run.phases, axes.time),
    valueAxis(axes.value),
    timeAxis(axes.time),
    ...series.map((one, index) => line(one, index, axes)),
    `<line class="cursor" y1="${TOP}" y2="${BOTTOM}" visibility="hidden"/>`,
    '</svg>',
  ].join('\n');
}

/** Draws the phases as bands, each with its name above; the name goes to the second line if the first is occupied. */
function bands(all: readonly Phase[], time: Scale): string {
  const taken = LABEL_LINES.map(() => -Infinity);
  return all
    .map(({ name, from, to }, index) => {
      const [start, end] = [time(from / 1_000), time(to / 1_000)];
      const band = `<rect class="band band-${index % 2}" x="${round(start)}" y="${TOP}" width="${round(end - start)}" height="${BOTTOM - TOP}"/>`;
      const label = PHASES[name] ?? name;
      const left = Math.min(start, RIGHT - label.length * LETTER);
      const row = taken.findIndex((until) => until <= left);
      const edge = `<line class="edge" x1="${round(start)}" x2="${round(start)}" y1="${TOP - 8}" y2="${BOTTOM}"/>`;
      if (row === -1) return band + edge;
      taken[row] = left + label.length * LETTER;
      return `${band}${edge}<text class="phase" x="${round(left)}" y="${LABEL_LINES[row]}">${html(label)}</text>`;
    })
    .join('\n');
}

function valueAxis(scale: Scale): string {
  return scale
    .ticks(TICKS)
    .map((tick) => {
      const y = round(scale(tick));
      return `<line class="grid" x1="${LEFT}" x2="${RIGHT}" y1="${y}" y2="${y}"/><text class="tick" x="${LEFT - 7}" y="${y}" dy="0.35em" text-anchor="end">${short(tick)}</text>`;
    })
    .join('\n');
}

function timeAxis(scale: Scale): string {
  const ticks = scale.ticks(TICKS).map((tick) => {
    const x = round(scale(tick));
    return `<line class="grid" x1="${x}" x2="${x}" y1="${BOTTOM}" y2="${BOTTOM + 5}"/><text class="tick" x="${x}" y="${BOTTOM + 21}" text-anchor="middle">${amount(tick)} s</text>`;
  });
  return ticks.join('\n');
}

function line({ points }: Series, index: number, axes: Axes): string {
  // A mean is drawn as a level line over its time: a slope between two means would show values that were not measured.
  const places = points.flatMap(({ since, at, value }) =>
    (since === undefined ? [at] : [since, at]).map(
      (time) => `${round(axes.time(time))},${round(axes.value(value))}`,
    ),
  );
  return `<polyline class="line series-${index}" points="${places.join(' ')}"/>`;
}

/** Returns the values that the page's script shows at the pointer: `[[x, "12 s: resident 120 MB, …"], …]`. */
function hoverData(plot: Plot, series: readonly Series[], axes: Axes): string {
  const byTime = new Map<number, string[]>();
  for (const { name, points } of series) {
    for (const { at, value } of points) {
      const texts = byTime.get(at) ?? [];
      texts.push(`${name} ${amount(value)} ${plot.unit}`);
      byTime.set(at, texts);
    }
  }
  const rows = [...byTime].map(([at, texts]) => [
    round(axes.time(at)),
    `${at.toFixed(1)} s: ${texts.join(', ')}`,
  ]);
  return JSON.stringify(rows);
}

/** 250k instead of 250,000, since there is little room beside an axis. */
function short(value: number): string {
  if (value >= 1e6) return `${amount(value / 1e6)}M`;
  return value >= 10_000 ? `${amount(value / 1e3)}k` : amount(value);
}

/** Does not spread the values: a long run has more points than a call may have arguments. */
const highest = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);

const round = (value: number): number => Math.round(value * 10) / 10;
