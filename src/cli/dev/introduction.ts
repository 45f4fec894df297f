import path from 'node:path';
import type { Config } from '../../config/settings.ts';
import { usesRedis } from '../../config/uses-redis.ts';
import { shownList } from '../../explain/shown-list.ts';
import type { LoadedGraph } from '../../graph/loader/load-graph.ts';
import { topicNamed } from '../../graph/topics.ts';
import { sampleEvents, type SampleEvent } from './sample-event.ts';

/** The most topics for which a command is printed. */
const MAX_SAMPLES = 3;

/** The text for the developer once the gateway listens. @param url the gateway's */
export function introduction(config: Config, graph: LoadedGraph, url: string): string {
  const folder = path.relative('.', graph.folder) || '.';
  const reload = config.WATCH_GRAPH ? 'loaded anew when a file in it changes' : 'loaded anew on SIGHUP';
  const page = config.GRAPHIQL ? ' for a browser' : '';
  return indented([`${url}/${page}`, `Graph: ${folder}, ${reload}`, ...source(config, graph, url)]);
}

/** Text on how to publish to topics that a reload has added; empty without any. @param before the topics before it */
export function newTopics(
  config: Config,
  graph: LoadedGraph,
  url: string,
  before: LoadedGraph['topics'],
): string {
  if (config.KAFKA_BROKERS.length > 0 || usesRedis(config)) return '';
  const samples = sampleEvents(graph).filter(({ topic }) => topicNamed(before, topic) === undefined);
  return samples.length === 0 ? '' : indented(['Topics that are new:', '', ...commands(samples, url)]);
}

function indented(lines: readonly string[]): string {
  return ['', ...lines, '', ''].map((line) => (line === '' ? '' : `  ${line}`)).join('\n');
}

function source(config: Config, graph: LoadedGraph, url: string): string[] {
  const { KAFKA_BROKERS } = config;
  if (KAFKA_BROKERS.length > 0) return [`Events come from Kafka, ${KAFKA_BROKERS.join(', ')}`];
  if (usesRedis(config)) {
    return ['Events come from other gateways by Redis, which is set, since KAFKA_BROKERS is not'];
  }
  const samples = sampleEvents(graph);
  if (samples.length === 0) return ['No field of the graph has a topic'];
  return ['Events come by hand, since KAFKA_BROKERS is not set:', '', ...commands(samples, url)];
}

function commands(samples: readonly SampleEvent[], url: string): string[] {
  const shown = samples.slice(0, MAX_SAMPLES);
  const rest = samples.slice(MAX_SAMPLES).map(({ topic }) => topic);
  const decoded = shown.filter(({ event }) => event === undefined).map(({ topic }) => topic);
  return [
    ...shown.map((sample) => publishing(sample, url)),
    ...(decoded.length === 0
      ? []
      : [`message is a file that you write: one message, as decode of ${shownList(decoded)} takes it`]),
    ...(rest.length === 0 ? [] : [`and so on for ${shownList(rest)}`]),
  ];
}

function publishing({ topic, event }: SampleEvent, url: string): string {
  const [type, data] =
    event === undefined
      ? ['octet-stream', "--data-binary '@message'"]
      : ['json', `-d '${JSON.stringify(event)}'`];
  // curl does not know the authority of a certificate for trying things out.
  const trust = url.startsWith('https:') ? ' --insecure' : '';
  const address = `${url.replace('http://', '')}/events/${encodeURIComponent(topic)}`;
  return `curl${trust} -X POST ${address} -H 'content-type: application/${type}' ${data}`;
}
