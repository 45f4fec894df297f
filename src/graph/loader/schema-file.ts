import { buildASTSchema, GraphQLError, parse, Source, validateSchema, type GraphQLSchema } from 'graphql';
import { validateSDL } from 'graphql/validation/validate.js';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../errors.ts';
import { placeOfError, startOf, type Findings } from '../diagnostic.ts';
import { withGatewaySchema } from '../directives/definitions.ts';

/**
 * Reads a GraphQL schema and adds the gateway's directives to it.
 *
 * @returns undefined if there is no valid schema, which has been added to `findings`
 */
export async function readSchema(file: string, findings: Findings): Promise<GraphQLSchema | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    findings.error(
      startOf(file),
      `expected a schema that can be read: ${messageOf(error)}`,
      'A graph is a folder with a schema.graphql.',
    );
    return undefined;
  }
  try {
    const document = withGatewaySchema(parse(new Source(text, file)));
    const faults = validateSDL(document);
    if (faults.length > 0) {
      for (const fault of faults) report(fault, file, findings);
      return undefined;
    }
    const schema = buildASTSchema(document, { assumeValidSDL: true });
    for (const fault of validateSchema(schema)) report(fault, file, findings);
    if (schema.getSubscriptionType() === undefined || schema.getSubscriptionType() === null) {
      findings.error(
        startOf(file),
        'expected a type Subscription, found none',
        'Write type Subscription { … } with a field for each kind of event that clients can subscribe to.',
      );
    }
    return schema;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    report(error, file, findings);
    return undefined;
  }
}

function report(fault: GraphQLError, file: string, findings: Findings): void {
  findings.error(placeOfError(fault, file), fault.message, hintFor(fault.message));
}

function hintFor(message: string): string {
  if (message.startsWith('Unknown directive')) {
    return 'Directives of the gateway: @event, @filter, @auth, @cost and @listSize. Others must be declared in the schema.';
  }
  if (message.includes('on directive "@event"')) {
    return 'Arguments of @event: topic, key, keyFrom, keys, format, sharing, history and replay.';
  }
  if (message.includes('irective "@auth"')) {
    return '@auth belongs on object types and fields; its arguments: requires, claim, owner and any.';
  }
  if (message.includes('irective "@filter"')) return 'The argument of @filter: where.';
  return 'The schema must be valid in the GraphQL schema definition language.';
}
