import { claimedNames } from '../auth/claims.ts';
import { loadConfig } from '../config/config.ts';
import { SluiceError } from '../errors.ts';
import { formatDiagnostic } from '../graph/diagnostic.ts';
import { checkGraph } from '../graph/loader/check-graph.ts';
import type { EventField } from '../graph/directives/event-field.ts';
import { isTopicName } from '../graph/topics.ts';
import type { TopicSchema } from '../graph/encoding/check-schemas.ts';
import { argumentsOf, UsageError } from './command.ts';
import { counted, print } from './output.ts';
import { describedIn, withRegistry } from './schema-registry.ts';
import { readSubgraph } from './subgraph-schema.ts';
import { typecheck } from './typecheck.ts';

/** `sluice check <graph>`: prints a line for each finding, and the numbers of errors and warnings. */
export async function check(args: readonly string[]): Promise<number> {
  const { positionals, options, lists } = argumentsOf(args, ['graph'], {
    options: ['no-types', 'registry'],
    lists: ['subgraph', 'subject'],
  });
  const [folder = ''] = positionals;
  const subgraphs = await Promise.all((lists['subgraph'] ?? []).map(readSubgraph));
  const types = options.has('no-types') ? [] : await typecheck(folder);
  const subjects = new Map((lists['subject'] ?? []).map(readSubject));
  const registry = options.has('registry') ? { registry: schemasOf(subjects) } : {};
  const diagnostics = [...(await checkGraph(folder, { claims: claims(), subgraphs, ...registry })), ...types];
  for (const diagnostic of diagnostics) print(`${formatDiagnostic(diagnostic)}\n`);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  print(`${counted(errors, 'error')}, ${counted(diagnostics.length - errors, 'warning')}\n`);
  return errors > 0 ? 1 : 0;
}

/** Reads `topic=subject`. @throws UsageError */
function readSubject(option: string): [topic: string, subject: string] {
  const [, topic, subject] = /^([^=]+)=(.+)$/.exec(option) ?? [];
  if (topic === undefined || subject === undefined) {
    throw new UsageError(`expected --subject <topic>=<subject>, got '${option}'`);
  }
  return [topic, subject];
}

/**
 * Finds the latest schemas of the topics whose messages name theirs.
 *
 * @param subjects by topic, for topics whose subject is not named after them
 */
function schemasOf(subjects: ReadonlyMap<string, string>) {
  return (fields: readonly EventField[]): Promise<Map<string, TopicSchema>> =>
    withRegistry(async (registry) => {
      const schemas = new Map<string, TopicSchema>();
      const named = fields.flatMap(({ topics, encoding }) => topics.map((topic) => ({ topic, encoding })));
      for (const { topic, encoding } of named) {
        const { format, schema: local } = encoding;
        if (format === 'JSON' || local !== undefined || schemas.has(topic)) continue;
        // Which subjects belong to a pattern is said by --subject.
        if (!isTopicName(topic) && !subjects.has(topic)) continue;
        const subject = subjects.get(topic) ?? `${topic}-value`;
        const found = await registry.latest(subject);
        const describe = () => {
          if (found === undefined) throw new UsageError('the registry has no such subject');
          return describedIn(found, format);
        };
        schemas.set(topic, { source: `the subject ${subject}`, describe });
      }
      return schemas;
    });
}

/** @returns properties that viewers have by claims; undefined if settings can't be used: a check needs no secrets */
function claims(): readonly string[] | undefined {
  try {
    return claimedNames(loadConfig(process.env));
  } catch (error) {
    if (error instanceof SluiceError) return undefined;
    throw error;
  }
}
