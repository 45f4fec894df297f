import {
  getNamedType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  type ConstDirectiveNode,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import type { Findings } from '../diagnostic.ts';
import { needsObject, type Rule } from './rule.ts';
import { AuthReader } from './syntax.ts';

type Field = GraphQLField<unknown, unknown>;

/** One type or field with its `@auth`. */
export interface Guarded {
  readonly type: GraphQLObjectType | GraphQLInterfaceType;
  /** Undefined if the type itself is guarded. */
  readonly field: Field | undefined;
  readonly rules: readonly Rule[];
}

/** All `@auth` of a schema, and the rules that follow for each field. */
export class Guards {
  readonly #guarded = new Map<Guarded['type'] | Field, Guarded>();

  constructor(schema: GraphQLSchema, file: string, findings: Findings) {
    const directive = schema.getDirective('auth');
    if (!directive) return;
    const reader = new AuthReader(directive, file, findings);
    const add = (type: Guarded['type'], field: Field | undefined, nodes: readonly ConstDirectiveNode[]) => {
      const rules = nodes.filter(({ name }) => name.value === 'auth').flatMap((node) => reader.rules(node));
      if (rules.length > 0) this.#guarded.set(field ?? type, { type, field, rules });
    };
    for (const type of Object.values(schema.getTypeMap())) {
      if (isIntrospectionType(type) || !(isObjectType(type) || isInterfaceType(type))) continue;
      const definitions = [type.astNode, ...type.extensionASTNodes];
      add(
        type,
        undefined,
        definitions.flatMap((node) => node?.directives ?? []),
      );
      for (const field of Object.values(type.getFields())) add(type, field, field.astNode?.directives ?? []);
    }
  }

  get all(): readonly Guarded[] {
    return [...this.#guarded.values()];
  }

  /**
   * The rules for using a field of an object type: the field's own, those of the same field in the type's interfaces,
   * those of the type, and those of the returned object type that can be judged without the object. The other rules of
   * the returned type guard its fields.
   */
  rulesOf(type: GraphQLObjectType, field: Field): readonly Rule[] {
    const declared = [field, ...type.getInterfaces().map((one) => one.getFields()[field.name]), type];
    const returned = this.rulesOfReturned(field).filter((rule) => !needsObject(rule));
    return [...new Set([...declared.flatMap((one) => this.#rules(one)), ...returned])];
  }

  /** The rules of the object type that a field returns. */
  rulesOfReturned(field: Field): readonly Rule[] {
    const type = getNamedType(field.type);
    return isObjectType(type) ? this.#rules(type) : [];
  }

  #rules(guarded: Guarded['type'] | Field | undefined): readonly Rule[] {
    return (guarded && this.#guarded.get(guarded)?.rules) ?? [];
  }
}
