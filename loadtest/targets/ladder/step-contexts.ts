import type { Backend } from '../../../src/graph/api/backend.ts';
import type { SharedContext } from '../../../src/graph/api/context.ts';
import { BACKENDS, company, loader, LOADERS, primer, PRIMERS } from '../../graphs/company/company.ts';

/** Makes a context for resolvers: one for each subscription, and one for each of its events. */
export type MakeContext = () => object;

type Backends = SharedContext['backends'];

const BACKEND_NAMES = names('backend', BACKENDS, 1);
const LOADER_NAMES = names('loader', LOADERS, 2);
const PRIMER_NAMES = names('primer', PRIMERS, 2);

/** Makes all parts of a context at once, as many servers do. */
export const eager: MakeContext = () => withEagerLoaders(eagerBackends());

/** Makes a back end when a resolver reads it. */
export const lazyBackends: MakeContext = () => withEagerLoaders(backendsWhenTouched());

/** Makes loaders and primers when a resolver reads them, too, by the Babel plugin. */
export const lazyLoaders: MakeContext = () => {
  const backends = backendsWhenTouched();
  const shared = { backends, now: 0, signal: NEVER_ABORTED };
  const loaders = company.loaders({ ...shared, loaders: {} }) as SharedContext['loaders'];
  return { backends, loaders, primers: company.primers({ ...shared, loaders }) };
};

const NEVER_ABORTED = new AbortController().signal;

function withEagerLoaders(backends: Backends): object {
  const loaders: Record<string, unknown> = {};
  for (const name of LOADER_NAMES) loaders[name] = loader(backends);
  const primers: Record<string, unknown> = {};
  for (const [index, name] of PRIMER_NAMES.entries()) {
    primers[name] = primer(loaders, LOADER_NAMES[index % LOADERS] ?? '');
  }
  return { backends, loaders, primers };
}

function eagerBackends(): Backends {
  const backends: Record<string, Backend> = {};
  for (const name of BACKEND_NAMES) backends[name] = backend(name);
  return backends;
}

function backendsWhenTouched(): Backends {
  return new Proxy<Record<string, Backend>>(
    {},
    { get: (made, name) => (made[String(name)] ??= backend(String(name))) },
  );
}

/** Has five wrappers, like clients of REST services. The flat graph has no resolver that calls one. */
function backend(name: string): Backend {
  const call = <T>(method: string, path: string): Promise<T> =>
    Promise.reject(new Error(`${method} ${path} of ${name}: expected no call, got one`));
  return {
    get: (path) => call('GET', path),
    delete: (path) => call('DELETE', path),
    post: (path) => call('POST', path),
    put: (path) => call('PUT', path),
    patch: (path) => call('PATCH', path),
  };
}

function names(prefix: string, count: number, digits: number): string[] {
  return Array.from({ length: count }, (_, index) => prefix + String(index).padStart(digits, '0'));
}
