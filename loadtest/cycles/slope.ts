/** Of the straight line that fits best (least squares). */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanX = mean(points.map(({ x }) => x));
  const meanY = mean(points.map(({ y }) => y));
  const together = points.map(({ x, y }) => (x - meanX) * (y - meanY));
  const alone = points.map(({ x }) => (x - meanX) ** 2);
  return mean(together) / mean(alone);
}
