import {
  buildASTSchema,
  concatAST,
  GraphQLError,
  parse,
  Source,
  validateSchema,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { validateSDL } from 'graphql/validation/validate.js';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { nearest } from '../../support/nearest.ts';
import { listed, placeOfError, startOf, type Findings } from '../diagnostic.ts';
import { withGatewaySchema } from '../directives/definitions.ts';

/** The main file of a graph's schema. Faults without a position are reported there. */
export const SCHEMA_FILE = 'schema.graphql';

/**
 * Reads the GraphQL schema in a folder, all its files that end in `.graphql`, and adds the gateway's directives to it.
 *
 * @param resolvable names of the types whose references the graph's code resolves
 * @returns undefined if no schema can be built; all faults have been added to `findings`
 */
export async function readSchema(
  folder: string,
  findings: Findings,
  resolvable?: ReadonlySet<string>,
): Promise<GraphQLSchema | undefined> {
  const main = path.join(folder, SCHEMA_FILE);
  try {
    const sources = await sourcesIn(folder);
    if (sources.length === 0) {
      const hint = 'A graph is a folder with a schema.graphql, or several files of such a name.';
      findings.error(startOf(main), 'expected a file that ends in .graphql, found none', hint);
      return undefined;
    }
    const written = sources.flatMap((source) => parsed(source, findings) ?? []);
    if (written.length < sources.length) return undefined;
    const document = withGatewaySchema(concatAST(written), resolvable);
    const faults = validateSDL(document);
    if (faults.length > 0) {
      for (const fault of faults) report(fault, main, findings);
      return undefined;
    }
    const schema = buildASTSchema(document, { assumeValidSDL: true });
    for (const fault of validateSchema(schema)) report(fault, main, findings);
    if (schema.getSubscriptionType() === undefined || schema.getSubscriptionType() === null) {
      findings.error(
        startOf(sources[0]?.name ?? main),
        'expected a type Subscription, found none',
        'Write type Subscription { … } with a field for each kind of event that clients can subscribe to.',
      );
    }
    return schema;
  } catch (error) {
    if (error instanceof GraphQLError) report(error, main, findings);
    else if (isFileError(error)) {
      const message = `expected a schema that can be read: ${messageOf(error)}`;
      findings.error(startOf(main), message, 'A graph is a folder with a schema.graphql.');
    } else throw error;
    return undefined;
  }
}

async function sourcesIn(folder: string): Promise<Source[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.graphql') && !name.startsWith('.'));
  const files = names.toSorted().map((name) => path.join(folder, name));
  return Promise.all(files.map(async (file) => new Source(await readFile(file, 'utf8'), file)));
}

/** @returns undefined if the source has a syntax error, which has been added to `findings` */
function parsed(source: Source, findings: Findings): DocumentNode | undefined {
  try {
    return parse(source);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    report(error, source.name, findings);
    return undefined;
  }
}

function isFileError(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall !== undefined;
}

function report(fault: GraphQLError, file: string, findings: Findings): void {
  findings.error(placeOfError(fault, file), fault.message, hintFor(fault.message));
}

const DIRECTIVES = [
  '@event',
  '@filter',
  '@delivery',
  '@auth',
  '@key',
  '@entity',
  '@fetched',
  '@reference',
  '@cost',
  '@listSize',
];

/** Directives of Apollo Federation that a schema of this gateway does not have, with what takes their place. */
const OF_FEDERATION: Readonly<Record<string, string>> = {
  '@link': 'Leave it out: `sluice sdl` writes it for other services.',
  '@shareable': 'Leave it out: `sluice sdl` writes it for other services.',
  '@external': 'A field that a back end has is written with @fetched, in a type with @entity.',
  '@requires':
    'The gateway does not pass fields of events to subgraphs: the subgraph reads them itself, by the key.',
  '@provides': "The gateway asks the entity's own back end for its fields.",
  '@interfaceObject': 'Write @key and @entity on the object types that implement the interface.',
};

function hintFor(message: string): string {
  const directive = /^Unknown directive "(@\w+)"/.exec(message)?.[1];
  if (directive !== undefined) {
    const instead = OF_FEDERATION[directive];
    if (instead !== undefined) return instead;
    const near = nearest(directive, DIRECTIVES);
    const guess = near === undefined ? '' : `Did you mean ${near}? `;
    return `${guess}Directives of the gateway: ${listed(DIRECTIVES)}. Others must be declared in the schema.`;
  }
  const quoted = /^Syntax Error: Expected Name, found String "([\w.]+)"/.exec(message)?.[1];
  if (quoted !== undefined) {
    const names = quoted.split('.');
    const nested = `${names.join(': { ')}: { … }${' }'.repeat(names.length - 1)}`;
    return `Names stand without quotes, and a path of @filter is nested: ${nested}.`;
  }
  const variable = /^Syntax Error: Unexpected variable "\$(\w+)"/.exec(message)?.[1];
  if (variable !== undefined) {
    if (variable === 'viewer') return 'Quotes are missing: @filter compares with "$viewer.id", for instance.';
    return `Quotes are missing: @filter compares with "$${variable}"; other directives name arguments without a dollar, "${variable}".`;
  }
  if (message.includes('on directive "@event"')) {
    return 'Arguments of @event: topic, topics, key, argument, keyFrom, keys, format, schema, keyFormat, keySchema, envelope, sharing, history and replay.';
  }
  if (message.includes('irective "@auth"')) {
    return '@auth belongs on object types and fields; its arguments: requires, claim, owner and any.';
  }
  if (message.includes('irective "@filter"')) return 'The argument of @filter: where.';
  if (message.startsWith('There can be only one type named')) {
    return 'All .graphql files of the folder are one schema: the second file writes `extend type`.';
  }
  return 'The schema must be valid in the GraphQL schema definition language.';
}
