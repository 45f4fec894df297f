/* Runs in the browser: requests to the gateway. */

/** The gateway has answered with an error. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @throws Refused, or an Error if the gateway does not answer */
export async function fetchText(path) {
  const response = await fetch(path, { cache: 'no-store' });
  if (response.ok) return response.text();
  const { error } = await response.json().catch(() => ({}));
  throw new Refused(response.status, error ?? `status ${response.status}`);
}

/** @param parameters undefined and empty ones are left out */
export async function fetchJson(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given);
  return JSON.parse(await fetchText(query.size === 0 ? path : `${path}?${query}`));
}
