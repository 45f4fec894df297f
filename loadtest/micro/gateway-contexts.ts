import { Backends } from '../../src/backends/backends.ts';
import { Contexts } from '../../src/context/event-scope.ts';
import type { GraphDefinition } from '../../src/graph/api/define-graph.ts';
import type { JsonValue } from '../../src/events/event.ts';
import { ownBytes } from '../../src/support/byte-budget.ts';
import { systemClock } from '../../src/support/clock.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';

const keep = (value: JsonValue): JsonValue => value;

/** Makes contexts as a gateway does, over a number of back ends that are never called. */
export function contextsOver(
  backendCount: number,
  code: Pick<GraphDefinition, 'loaders' | 'viewerLoaders' | 'primers'>,
): { readonly contexts: Contexts; close(): Promise<void> } {
  const definitions = Object.fromEntries(
    Array.from({ length: backendCount }, (_, index) => [`backend${index}`, { url: 'http://127.0.0.1:1' }]),
  );
  const backends = new Backends(definitions, {
    metrics: new Metrics(),
    log: createLog('silent'),
    clock: systemClock,
    answers: ownBytes(2 ** 24),
    transformKeys: { SNAKE: keep, KEEP: keep },
  });
  return { contexts: new Contexts(code, backends, Date.now), close: () => backends.close() };
}
