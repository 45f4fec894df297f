/* Runs in the browser: figures as text. */

const compact = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, notation: 'compact' }).format;
const decimal = new Intl.NumberFormat('en', { maximumFractionDigits: 1 }).format;
const units = ['B', 'KB', 'MB', 'GB'];

export const count = compact;
export const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 }).format;
export const percent = (value) => `${Math.round(value * 100)} %`;
export const perSecond = (value) => `${compact(value)}/s`;

/** For a short duration. */
export function seconds(value) {
  return value < 1 ? `${compact(value * 1000)} ms` : `${compact(value)} s`;
}

export function milliseconds(value) {
  return value < 1_000 ? `${decimal(value)} ms` : duration(value / 1_000);
}

/** For a duration that may be long: its two largest units. */
export function duration(value) {
  if (value < 60) return value < 10 ? `${decimal(value)} s` : `${Math.floor(value)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(value % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function bytes(value) {
  const power = value < 1_000 ? 0 : Math.min(3, Math.floor(Math.log10(value) / 3));
  const digits = power < 3 ? 0 : 2;
  return `${(value / 1_000 ** power).toFixed(digits)} ${units[power]}`;
}

/** Executions for one event. */
export function ratio(value) {
  return value >= 100 ? whole(value) : decimal(value);
}
