import type { NamedTable } from '../report/sections/tables-section.ts';
import { tableText } from '../report/text-table.ts';
import type { Measurement } from './bench.ts';
import type { HeapMeasurement } from './heap-case.ts';
import type { StageMeasurement } from './stages.ts';

/** The measurements of one case. */
export interface Result {
  readonly benchmark: string;
  readonly name: string;
  readonly unit: string;
  readonly variants: readonly (Measurement | HeapMeasurement | StageMeasurement)[];
}

/** Returns the text for the terminal. */
export function format(result: Result): string {
  const { title, ...table } = tableOf(result);
  return [title, tableText(table), ''].join('\n');
}

export function tableOf({ benchmark, name, unit, variants }: Result) {
  const cells = variants.map((variant): Readonly<Record<string, string>> => {
    if ('cpuNs' in variant) return timeCells(variant, unit);
    return 'stageNs' in variant ? stageCells(variant, unit) : heapCells(variant, unit);
  });
  return {
    title: `${benchmark}: ${name}`,
    columns: Object.keys(cells[0] ?? {}),
    rows: cells.map((one) => Object.values(one)),
  } satisfies NamedTable;
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

function stageCells({ name, stageNs, addedNs }: StageMeasurement, unit: string) {
  return {
    '': name,
    [`CPU per ${unit}`]: duration(stageNs),
    'added by the stage': addedNs === null ? '' : duration(addedNs),
  };
}

const times = (ratio: number): string => `× ${digits(ratio)}`;

function duration(ns: number): string {
  if (Math.abs(ns) < 1e3) return `${digits(ns)} ns`;
  return Math.abs(ns) < 1e6 ? `${digits(ns / 1e3)} µs` : `${digits(ns / 1e6)} ms`;
}

function size(bytes: number): string {
  return bytes < 10_000 ? `${Math.round(bytes)} B` : `${digits(bytes / 1e3)} kB`;
}

/** Three significant digits: no benchmark is more precise. */
function digits(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
