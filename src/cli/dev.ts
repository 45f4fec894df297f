import { styleText } from 'node:util';
import { loadConfig } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { usesRedis } from '../config/uses-redis.ts';
import { SluiceError } from '../errors.ts';
import { BUNDLED_FOLDER } from '../gateway/graph-folder.ts';
import { Gateway } from '../gateway/gateway.ts';
import { bindingsOf } from '../graph/topics.ts';
import type { LoadedGraph } from '../graph/loader/load-graph.ts';
import { createLog } from '../log.ts';
import { startTracing } from '../tracing/start-tracing.ts';
import { argumentsOf } from './command.ts';
import { developmentEnvironment } from './dev/environment.ts';
import { EventWays } from './dev/event-ways.ts';
import { introduction, newTopics } from './dev/introduction.ts';
import { logLine } from './dev/log-lines.ts';
import type { Way } from './dev/way.ts';
import { laterLines, wayLines, type WayLine } from './dev/way-lines.ts';
import { logEnvFile, type EnvFile } from './env-file.ts';
import { print } from './output.ts';
import { browserUrl, guard, runPod } from './run-pod.ts';

/** The most events whose way is printed in a second: a person can't read more. */
const PRINTED_PER_SECOND = 20;

/** How long an event that comes from Kafka or Redis may take from the bus to the hub. */
const LAG_MS = 200;

/** `sluice dev [graph]`: runs until a signal ends it. */
export async function dev(args: readonly string[], envFile?: EnvFile): Promise<undefined> {
  const [folder] = argumentsOf(args, [], { optional: ['graph'] }).positionals;
  const env = developmentEnvironment(process.env, folder);
  const config = loadConfig(env);
  if (config.WORKERS !== 1) {
    throw new SluiceError('BAD_SETTINGS', `WORKERS: expected 1 for sluice dev, got ${config.WORKERS}`);
  }
  const isTerminal = process.stdout.isTTY && process.stdout.hasColors();
  const log = process.stdout.isTTY
    ? createLog(config.LOG_LEVEL, { write: (line) => void print(logLine(line)) })
    : createLog(config.LOG_LEVEL);
  guard(log);
  logEnvFile(envFile, log);
  const current: { gateway?: Gateway; url?: string } = {};
  const ways = createWays(config, current, isTerminal);
  const port = await runPod(config, env, log, async () => {
    const tracing = await startTracing(env, log);
    const onReload = (graph: LoadedGraph, { topics }: LoadedGraph): void => {
      if (current.url !== undefined) print(newTopics(config, graph, current.url, topics));
    };
    current.gateway = await Gateway.create(config, log, { trace: ways.trace, tracing, onReload });
    return current.gateway;
  });
  const { graph } = current.gateway ?? {};
  current.url = browserUrl(config, port);
  if (graph !== undefined) print(introduction(config, graph, current.url));
}

/** Prints the ways of events. No event comes before the gateway has been created. */
function createWays(config: Config, current: { readonly gateway?: Gateway }, hasColors: boolean): EventWays {
  const isByHand = config.KAFKA_BROKERS.length === 0;
  const isShared = usesRedis(config);
  const write = (lines: readonly WayLine[]): void => {
    print(lines.map((line) => `${hasColors ? painted(line) : line.text}\n`).join(''));
  };
  const where = () => {
    const isSimulated = config.SIMULATOR && current.gateway?.graph.folder === BUNDLED_FOLDER;
    const origin = isSimulated ? 'made up, or published by hand' : 'published by hand';
    return { origin: isByHand && !isShared ? origin : undefined, isShared };
  };
  const bindingsOfEvent = ({ place }: Way) =>
    current.gateway === undefined ? [] : bindingsOf(current.gateway.graph, place.topic);
  return new EventWays({
    onEnd: (way) => write(wayLines(way, bindingsOfEvent(way), where())),
    onLater: (way, group) => write(laterLines(way, group, where())),
    onSkipped: (count) => write([{ tone: 'event', text: `${count} more events, which are not printed` }]),
    ingests: !isByHand || !isShared,
    lagMs: isByHand && !isShared ? 0 : LAG_MS,
    perSecond: PRINTED_PER_SECOND,
    afterWaiting: (callback) => current.gateway?.afterWaiting(callback),
    now: () => performance.now(),
  });
}

const STYLES = { event: 'bold', sent: 'green', unsent: 'yellow', failed: 'red' } as const;

function painted({ tone, text }: WayLine): string {
  return styleText(STYLES[tone], text);
}
