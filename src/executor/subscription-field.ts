import { getArgumentValues, GraphQLError, type FieldNode, type GraphQLSchema } from 'graphql';
import { collectFields } from 'graphql/execution/collectFields.js';
import { messageOf } from '../errors.ts';
import { fragmentsOf } from './fragments.ts';
import type { Operation } from './operation.ts';
import { coerceVariables, type Variables } from './variables.ts';

/** The root field of a subscription, and its coerced arguments as a resolver would get them. */
export interface SubscriptionField {
  readonly field: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Never throws: arguments that can't be coerced give at least one error. */
export function subscriptionField(
  schema: GraphQLSchema,
  operation: Operation,
  rawVariables: Variables,
): SubscriptionField | readonly GraphQLError[] {
  const type = schema.getSubscriptionType();
  const node = rootNode(schema, operation);
  const field = type?.getFields()[node?.name.value ?? ''];
  if (node === undefined || field === undefined) {
    return [new GraphQLError(`Expected a subscription to one field, got a ${operation.kind}.`)];
  }
  try {
    const { errors, coerced } = coerceVariables(schema, operation, rawVariables);
    if (errors) return errors;
    return { field: field.name, args: getArgumentValues(field, node, coerced) };
  } catch (thrown) {
    if (thrown instanceof GraphQLError) return [thrown];
    return [new GraphQLError(`The arguments of ${field.name} can't be read: ${messageOf(thrown)}`)];
  }
}

/** `rootConditionErrors` has refused conditions at the root, so the only root field is found without variables. */
function rootNode(schema: GraphQLSchema, { definition, document, kind }: Operation): FieldNode | undefined {
  const type = schema.getSubscriptionType();
  if (type == null || kind !== 'subscription') return undefined;
  const fields = collectFields(schema, fragmentsOf(document), {}, type, definition.selectionSet);
  for (const [node] of fields.values()) return node;
  return undefined;
}
