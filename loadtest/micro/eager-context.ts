import type { Backend, RequestOptions } from '../../src/graph/api/backend.ts';
import { BACKENDS, loader, LOADERS, primer, PRIMERS } from '../graphs/company/company.ts';

/** As many servers do it: whatever a resolver might want is made for each context. */
export function eagerContext(viewer: object) {
  const backends = Object.fromEntries(numbers(BACKENDS).map((index) => [`backend${index}`, eagerBackend()]));
  const loaders = Object.fromEntries(
    numbers(LOADERS).map((index) => [`loader${twoDigits(index)}`, loader(backends)]),
  );
  const primers = Object.fromEntries(
    numbers(PRIMERS).map((index) => [
      `primer${twoDigits(index)}`,
      primer(loaders, `loader${twoDigits(index % LOADERS)}`),
    ]),
  );
  return { viewer, backends, loaders, viewerLoaders: {}, primers, now: Date.now() };
}

/** Nobody calls here. */
const call = <T>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T> =>
  Promise.reject(new Error(`${method} ${path} ${String(body)} ${String(options)}: nobody calls here`));

function eagerBackend(): Backend {
  return {
    get: (path, options) => call('GET', path, undefined, options),
    delete: (path, options) => call('DELETE', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
    put: (path, body, options) => call('PUT', path, body, options),
    patch: (path, body, options) => call('PATCH', path, body, options),
  };
}

export const numbers = (length: number): number[] => Array.from({ length }, (_, index) => index);
const twoDigits = (index: number): string => String(index).padStart(2, '0');
