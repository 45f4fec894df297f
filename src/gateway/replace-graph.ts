import type { Bus } from '../bus/bus.ts';
import { SluiceError } from '../errors.ts';
import type { Hub } from '../hub/hub.ts';
import { Renewals, type RenewalServices } from '../hub/renewals.ts';
import { formatDiagnostic } from '../graph/diagnostic.ts';
import { loadGraph, type LoadedGraph } from '../graph/loader/load-graph.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { Log } from '../log.ts';
import { withTimeout } from '../support/with-timeout.ts';
import { historiesOf } from './create-bus.ts';
import { BUNDLED_FOLDER } from './graph-folder.ts';
import type { GraphInForce } from './graph-in-force.ts';
import type { GraphMaker, RunningGraph } from './running-graph.ts';

interface ReplaceGraphOptions {
  readonly folder: string;
  /** The names of values that viewers may have according to the settings: see `ReadOptions`. */
  readonly claims: readonly string[];
  readonly maker: GraphMaker;
  readonly inForce: GraphInForce;
  readonly hub: Pick<Hub, 'plans' | 'replaceGraph'>;
  readonly ingest: Pick<Ingest, 'check' | 'use'>;
  readonly bus: Pick<Bus, 'keep'>;
  /** For planning subscriptions. */
  readonly plan: Pick<RenewalServices, 'channelPrefix' | 'maxChannels'>;
  /** Shows the graph to those who open GraphiQL. */
  readonly show: (graph: LoadedGraph) => void;
  readonly log: Log;
  /**
   * How long the code of a graph may take to load.
   *
   * @default 30_000
   */
  readonly loadMs?: number;
}

/** If a graph's code waits for something that never comes, later reloads must not wait for ever. */
const LOAD_MS = 30_000;

/**
 * Loads the graph again and puts it in force:
 *
 *     load, check ──► topics exist ──► compile ──► plan subscriptions anew ──► replace, in one turn
 *
 * @returns how many subscriptions went on or ended, for the log
 * @throws SluiceError if the graph can't be used: then nothing has changed
 */
export async function replaceGraph(options: ReplaceGraphOptions): Promise<object> {
  const { folder, claims, maker, inForce, hub, ingest, bus, plan, show, log, loadMs = LOAD_MS } = options;
  const graph = await withTimeout(loadGraph(folder, { anew: true, claims }), loadMs, () => {
    throw new SluiceError('BAD_GRAPH', `expected the code of the graph to be loaded within ${loadMs} ms`);
  });
  await ingest.check(graph.topics);
  if (folder !== BUNDLED_FOLDER) for (const warning of graph.warnings) log.warn(formatDiagnostic(warning));
  const before = inForce.current;
  const next = maker.make(graph, before);
  const servicesOf = ({ executor, graph: { bindings, streams } }: RunningGraph): RenewalServices => ({
    ...plan,
    executor,
    graph: { bindings, streams },
  });
  const renewals = new Renewals(servicesOf(before), servicesOf(next));
  await renewals.planAhead(hub.plans);
  // Plans also for subscriptions that have come meanwhile, before anything changes.
  for (const one of hub.plans) renewals.of(one);
  const { kept, ended, isDone } = hub.replaceGraph(next, (one) => renewals.of(one));
  inForce.replace(next, isDone);
  bus.keep(historiesOf(graph));
  ingest.use(graph.topics);
  show(graph);
  return { kept, ended };
}
