import { Backends } from '../backends/backends.ts';
import { responseKeys } from '../backends/response-keys.ts';
import { Authenticator } from '../context/authenticator.ts';
import type { ExecutionBounds } from '../context/bounded-execution.ts';
import { Contexts } from '../context/event-scope.ts';
import { Queries } from '../context/queries.ts';
import { COST_CODES, costLimits } from '../executor/cost/limits.ts';
import { Executor } from '../executor/executor.ts';
import { fieldsWithCode } from '../executor/field-names.ts';
import { OperationAdmission } from '../executor/operation-admission.ts';
import { INTERNAL_CODE, UNSERIALISABLE_CODE } from '../executor/result-errors.ts';
import type { LoadedGraph } from '../graph/loader/load-graph.ts';
import { BoundedLabels } from '../support/bounded-labels.ts';
import { systemClock } from '../support/clock.ts';
import { FairLimiter } from '../support/fair-limiter.ts';
import type { Basics } from './basics.ts';
import { readSettingFile } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { PersistedDocuments } from '../executor/persisted-documents.ts';
import { SluiceError } from '../errors.ts';
import type { Graph } from '../graph/graph.ts';
import type { Log } from '../log.ts';

/** A graph, with the parts that the gateway makes from it: made and replaced as a whole. */
export interface RunningGraph {
  readonly graph: LoadedGraph;
  readonly executor: Executor;
  readonly contexts: Contexts;
  readonly queries: Queries;
  readonly admission: OperationAdmission;
  readonly authenticator: Authenticator;
  readonly backends: Backends;
}

/** Makes a RunningGraph of each graph. It holds what all graphs of a gateway share. */
export class GraphMaker {
  /** The bounds of all executions, including those of previous graphs. */
  readonly bounds: ExecutionBounds;
  readonly #basics: Basics;
  /** Codes of errors, which authors of graphs choose. */
  readonly #codes = new BoundedLabels();

  constructor(basics: Basics) {
    const { config, metrics } = basics;
    this.#basics = basics;
    this.bounds = {
      limiter: new FairLimiter(config.EXECUTE_CONCURRENCY),
      metrics,
      timeoutMs: config.EXECUTE_TIMEOUT_MS,
    };
    for (const code of Object.values(COST_CODES)) metrics.refusedOperations.inc({ code }, 0);
  }

  /**
   * @param before the running graph that it will replace
   * @throws SluiceError if the graph's back ends can't be used, its persisted documents do not fit it, or a topic that is
   *   spread has history
   */
  make(graph: LoadedGraph, before?: RunningGraph): RunningGraph {
    const { config, budget, metrics, log, tracing } = this.#basics;
    expectSpreadable(config, graph, log);
    const { schema, definition } = graph;
    const subscription = schema.getSubscriptionType()?.name;
    const executor = new Executor({
      schema,
      cacheSize: config.DOCUMENT_CACHE_SIZE,
      cacheCharacters: config.DOCUMENT_CACHE_CHARACTERS,
      suggestions: config.INTROSPECTION === 'true',
      limits: costLimits(config),
      refused: (code) => metrics.refusedOperations.inc({ code }),
      maskErrors: config.MASK_ERRORS,
      failed: (field, code, count) =>
        metrics.resolverErrors.inc({ field, code: this.#codes.of(code) }, count),
      log: log.child({ part: 'executor' }),
    });
    const admission = new OperationAdmission({
      executor,
      persisted: loadPersistedDocuments(config, executor),
      persistedOnly: config.PERSISTED_DOCUMENTS_ONLY,
      introspection: config.INTROSPECTION,
    });
    const services = {
      metrics,
      log: log.child({ part: 'backends' }),
      clock: systemClock,
      answers: budget.answers,
      transformKeys: responseKeys(),
      isTraced: tracing !== undefined,
    };
    // Last: if something after it threw, connections would stay open.
    const backends = new Backends(definition.backends ?? {}, services, before?.backends);
    for (const field of fieldsWithCode(schema)) metrics.resolverErrors.inc({ field, code: INTERNAL_CODE }, 0);
    if (graph.hasResolvers) {
      for (const name of graph.bindings.keys())
        metrics.resolverErrors.inc({ field: `${subscription}.${name}`, code: UNSERIALISABLE_CODE }, 0);
    }
    const contexts = new Contexts(definition, backends, Date.now, graph);
    return {
      graph,
      executor,
      contexts,
      queries: new Queries({ ...this.bounds, executor, contexts }),
      admission,
      authenticator: new Authenticator(
        definition,
        config.EXECUTE_TIMEOUT_MS,
        log.child({ part: 'authenticate' }),
      ),
      backends,
    };
  }
}

/** @throws SluiceError BAD_SETTINGS if the file can't be read, or does not fit the graph */
function loadPersistedDocuments(
  { PERSISTED_DOCUMENTS: file }: Config,
  executor: Pick<Executor, 'check'>,
): PersistedDocuments | undefined {
  if (file === undefined) return undefined;
  const json = readSettingFile('PERSISTED_DOCUMENTS', file);
  return PersistedDocuments.load(file, json, (text) => executor.check(text));
}

/**
 * Refuses to spread a topic with history. One slot of the cluster gives the sequence for all its channels. If the gateway
 * ignored the setting for such a topic, pods with the previous graph would listen elsewhere, and not notice.
 *
 * Warns of a name without a topic in the graph: it is likely misspelt, though a later graph may have the topic.
 *
 * @throws SluiceError BAD_SETTINGS if a topic that is spread has history
 */
export function expectSpreadable(
  { REDIS_CLUSTER_SPREAD }: Pick<Config, 'REDIS_CLUSTER_SPREAD'>,
  { streams }: Pick<Graph, 'streams'>,
  log: Pick<Log, 'warn'>,
): void {
  const unknown = REDIS_CLUSTER_SPREAD.filter((name) => !streams.has(name));
  if (unknown.length > 0) {
    log.warn(`REDIS_CLUSTER_SPREAD: expected topics of the graph, got ${unknown.join(', ')}`);
  }
  const kept = REDIS_CLUSTER_SPREAD.filter((name) => streams.get(name)?.history);
  if (kept.length === 0) return;
  throw new SluiceError(
    'BAD_SETTINGS',
    `REDIS_CLUSTER_SPREAD: expected topics without history, got ${kept.join(', ')}`,
  );
}
