import type { Table } from '../report/comparison-tables.ts';
import type { Measurement } from './bench.ts';
import type { HeapMeasurement } from './heap-case.ts';

/** What came of one case. */
export interface Result {
  readonly benchmark: string;
  readonly name: string;
  readonly unit: string;
  readonly variants: readonly (Measurement | HeapMeasurement)[];
}

/** For the terminal. */
export function format(result: Result): string {
  const { title, columns, rows } = tableOf(result);
  return [title, ...lines([columns, ...rows]), ''].join('\n');
}

export function tableOf({ benchmark, name, unit, variants }: Result): Table & { readonly title: string } {
  const cells = variants.map((variant) =>
    'cpuNs' in variant ? timeCells(variant, unit) : heapCells(variant, unit),
  );
  return {
    title: `${benchmark}: ${name}`,
    columns: Object.keys(cells[0] ?? {}),
    rows: cells.map((one): string[] => Object.values(one)),
  };
}

function timeCells({ name, cpuNs, cpuSpread, wallNs, ratio, bytes }: Measurement, unit: string) {
  return {
    '': name,
    [`CPU per ${unit}`]: duration(cpuNs),
    '±': `${((cpuSpread / 2) * 100).toFixed(0)} %`,
    'of the first': times(ratio),
    wall: duration(wallNs),
    'heap allocated': size(bytes),
  };
}

function heapCells({ name, objects, bytes, ratio }: HeapMeasurement, unit: string) {
  return {
    '': name,
    [`bytes per ${unit}`]: size(bytes),
    'of the first': times(ratio),
    objects: String(Math.round(objects)),
  };
}

/** The first column to the left, figures to the right. */
function lines(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}

const times = (ratio: number): string => `× ${digits(ratio)}`;

function duration(ns: number): string {
  if (ns < 1e3) return `${digits(ns)} ns`;
  return ns < 1e6 ? `${digits(ns / 1e3)} µs` : `${digits(ns / 1e6)} ms`;
}

function size(bytes: number): string {
  return bytes < 10_000 ? `${Math.round(bytes)} B` : `${digits(bytes / 1e3)} kB`;
}

/** Three that count: no benchmark is more precise than that. */
function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
