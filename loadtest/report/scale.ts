/** From values to places on a plot. */
export interface Scale {
  readonly ticks: readonly number[];
  readonly highest: number;
  at(value: number): number;
}

/** Linear from 0 to a round number that no value exceeds, over places from `from` to `to`. */
export function scaleTo(highest: number, from: number, to: number, wantedTicks = 5): Scale {
  const step = roundStep(highest / wantedTicks);
  const top = Math.ceil(highest / step - 1e-9) * step || step;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
  return { ticks, highest: top, at: (value) => from + ((to - from) * value) / top };
}

/** Linear from 0 to exactly the highest value: for time, where a round end would be empty space. */
export function timeScale(highest: number, from: number, to: number): Scale {
  const { ticks } = scaleTo(highest, from, to, 6);
  const end = highest > 0 ? highest : 1;
  return {
    ticks: ticks.filter((tick) => tick <= end),
    highest: end,
    at: (value) => from + ((to - from) * value) / end,
  };
}

/** 1, 2 or 5 times a power of ten: what people count in. */
function roundStep(least: number): number {
  if (!(least > 0) || !Number.isFinite(least)) return 1;
  const magnitude = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((one) => one * magnitude >= least * (1 - 1e-9)) ?? 10;
  return factor * magnitude;
}
