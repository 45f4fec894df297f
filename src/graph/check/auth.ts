import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
} from 'graphql';
import { hasResolver, type GraphDefinition } from '../api/define-graph.ts';
import type { Guarded, Guards } from '../auth/guards.ts';
import { proofsOf, type Proof } from '../auth/rule.ts';
import { listed, placeOf, type Findings } from '../diagnostic.ts';
import { eventTypeOf, fieldNames, followPath, isList } from '../event-type.ts';

type FieldProof = Extract<Proof, { kind: 'field' }>;

/** Types whose values can name a viewer. */
const NAMING_TYPES: ReadonlySet<string> = new Set(['ID', 'String', 'Int']);

/** Compares `@auth` with the schema: an owner's argument or field must exist where its rule is judged. */
export class AuthCheck {
  readonly #schema: GraphQLSchema;
  readonly #definition: GraphDefinition;
  readonly #file: string;
  readonly #findings: Findings;

  constructor(schema: GraphQLSchema, definition: GraphDefinition, file: string, findings: Findings) {
    this.#schema = schema;
    this.#definition = definition;
    this.#file = file;
    this.#findings = findings;
  }

  check(guards: Guards): void {
    for (const guarded of guards.all) {
      for (const proof of proofsOf(guarded.rules)) {
        if (proof.kind === 'argument') this.#checkArgument(proof, guarded);
        if (proof.kind === 'field') this.#checkField(proof, guarded);
      }
      this.#warnOfNonNull(guarded);
    }
    this.#checkReturnsOfSubscription(guards);
  }

  /** Refuses fields that return a guarded Subscription type, whose rules are judged only when a client subscribes. */
  #checkReturnsOfSubscription(guards: Guards): void {
    const subscription = this.#schema.getSubscriptionType();
    if (subscription == null || !guards.all.some(({ type }) => holds(this.#schema, type, subscription)))
      return;
    for (const type of Object.values(this.#schema.getTypeMap())) {
      if (!isObjectType(type) && !isInterfaceType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        if (!holds(this.#schema, getNamedType(field.type), subscription)) continue;
        this.#error(
          field.astNode,
          `${type.name}.${field.name} returns ${field.type.toString()}, past what guards ${subscription.name}`,
          'Only clients that subscribe can be checked: give it another type.',
        );
      }
    }
  }

  #checkArgument(
    { argument: name, node }: Extract<Proof, { kind: 'argument' }>,
    { type, field }: Guarded,
  ): void {
    if (field === undefined) {
      const message = `owner argument "${name}" on the type ${type.name}: types have no arguments`;
      this.#error(node, message, 'Name a field, or put @auth on the fields that have the argument.');
      return;
    }
    const argument = field.args.find((one) => one.name === name);
    if (argument === undefined) {
      const message = `owner argument "${name}" is no argument of ${type.name}.${field.name}`;
      this.#error(node, message, `Arguments: ${listed(field.args.map((one) => one.name))}.`);
    } else if (!namesViewers(argument.type)) {
      const message = `owner argument "${name}" is of type ${argument.type.toString()}`;
      this.#error(node, message, 'Viewers are named by an ID, a String, an Int or a list of one of them.');
    }
  }

  #checkField(proof: FieldProof, { type, field }: Guarded): void {
    if (type === this.#schema.getQueryType() || type === this.#schema.getMutationType()) {
      const message = `owner field on ${type.name}: there is neither event nor object to read it from`;
      this.#error(proof.node, message, 'Name an argument, or put @auth on the type that has the field.');
    } else if (type === this.#schema.getSubscriptionType()) {
      const subscriptions = field === undefined ? Object.values(type.getFields()) : [field];
      for (const one of subscriptions) {
        const eventType = eventTypeOf(this.#schema, one, this.#definition);
        if (eventType !== undefined) this.#walk(proof, eventType);
      }
    } else if (isInterfaceType(type) && this.#schema.getPossibleTypes(type).length > 0) {
      for (const possible of this.#schema.getPossibleTypes(type)) this.#walk(proof, possible);
    } else {
      this.#walk(proof, type);
    }
  }

  /** Follows the path of an owner field from an event's or object's type down to the field that names the viewer. */
  #walk({ field: path, node }: FieldProof, start: GraphQLNamedOutputType): void {
    const { steps, stop } = followPath(this.#schema, start, path);
    const whole = `owner field "${path.join('.')}"`;
    for (const [index, { parent, field }] of steps.entries()) {
      const isLast = index === path.length - 1;
      const fits = isLast ? namesViewers(field.type) : !isList(field.type);
      if (!fits) {
        const message = `${whole}: ${parent.name}.${field.name} is of type ${field.type.toString()}`;
        const hint = isLast
          ? 'Viewers are named by an ID, a String, an Int or a list of one of them.'
          : 'Owners are not looked up within lists.';
        this.#error(node, message, hint);
        return;
      }
      if (hasResolver(this.#definition, parent.name, field.name)) {
        this.#findings.warning(
          placeOf(node, this.#file),
          `@auth: ${parent.name}.${field.name} has a resolver, but owners are looked up without resolvers`,
          `The viewer is compared with what the event or object itself holds under ${field.name}, if anything.`,
        );
      }
    }
    if (stop?.kind !== 'missing') return;
    const { parent, name } = stop;
    const known = fieldNames(this.#schema, parent);
    this.#error(
      node,
      `${whole}: ${parent.name} has no field "${name}"`,
      `Fields of ${parent.name}: ${known}.`,
    );
  }

  /** Warns of a non-null field: if it is refused, the object around it becomes null. */
  #warnOfNonNull({ type, field }: Guarded): void {
    if (field === undefined || type === this.#schema.getSubscriptionType() || !isNonNullType(field.type)) {
      return;
    }
    this.#findings.warning(
      placeOf(field.astNode, this.#file),
      `@auth: ${type.name}.${field.name} is never null, so a viewer that may not use it gets nothing of the ${type.name} around it`,
      `If that is not meant, write ${field.name}: ${getNullableType(field.type).toString()}`,
    );
  }

  #error(node: Parameters<typeof placeOf>[0], message: string, hint: string): void {
    this.#findings.error(placeOf(node, this.#file), `@auth: ${message}`, hint);
  }
}

/** Whether values of the type may be of the object type. */
function holds(schema: GraphQLSchema, type: GraphQLNamedOutputType, object: GraphQLObjectType): boolean {
  return type === object || (isAbstractType(type) && schema.isSubType(type, object));
}

function namesViewers(type: GraphQLType): boolean {
  const outer = getNullableType(type);
  const element = isListType(outer) ? getNullableType(outer.ofType) : outer;
  if (isListType(element) || isCompositeType(element)) return false;
  if (isScalarType(element) && !isSpecifiedScalarType(element)) return true;
  return NAMING_TYPES.has(String(element));
}
