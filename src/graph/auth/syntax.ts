import {
  getArgumentValues,
  GraphQLError,
  Kind,
  type ConstDirectiveNode,
  type ConstValueNode,
  type GraphQLDirective,
} from 'graphql';
import { placeOf, placeOfError, type Findings } from '../diagnostic.ts';
import { claimProof, type Path, type Proof, type Rule } from './rule.ts';

/** `@auth`, or one element of its `any`, as graphql-js has coerced it. */
interface Written {
  readonly requires?: readonly string[] | null;
  readonly claim?: string | null;
  readonly owner?: { readonly argument?: string; readonly field?: string; readonly claim: string } | null;
  readonly any?: readonly Written[] | null;
}

const DEFAULT_CLAIM = 'role';

/** Reads the syntax of `@auth`; AuthCheck compares its arguments and fields with the schema. */
export class AuthReader {
  readonly #directive: GraphQLDirective;
  readonly #file: string;
  readonly #findings: Findings;

  constructor(directive: GraphQLDirective, file: string, findings: Findings) {
    this.#directive = directive;
    this.#file = file;
    this.#findings = findings;
  }

  /** The rules of one `@auth`, all of which must hold. Faults are added to the findings. */
  rules(node: ConstDirectiveNode): Rule[] {
    let written: Written;
    try {
      written = getArgumentValues(this.#directive, node);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      const hint = '@auth takes requires: [String!], claim: String, owner: AuthOwner and any: [AuthRule!].';
      this.#findings.error(placeOfError(error, this.#file), `@auth: ${error.message}`, hint);
      return [];
    }
    const valueOf = (name: string): ConstValueNode | undefined =>
      node.arguments?.find((argument) => argument.name.value === name)?.value;
    const own = this.#proofs(written, valueOf, node);
    const any = valueOf('any');
    if (any === undefined || written.any === undefined || written.any === null) {
      return [[own.length > 0 ? own : [{ kind: 'authenticated' }]]];
    }
    if (written.any.length === 0) this.#fault(any, 'any: [] lets no viewer pass', 'Name an alternative.');
    const nodes = any.kind === Kind.LIST ? any.values : [any];
    const alternatives = written.any.map((item, index) => this.#alternative(item, nodes[index] ?? any));
    return own.length > 0 ? [[own], alternatives] : [alternatives];
  }

  #alternative(written: Written, node: ConstValueNode): Proof[] {
    const fields = node.kind === Kind.OBJECT ? node.fields : [];
    const valueOf = (name: string) => fields.find((field) => field.name.value === name)?.value;
    const proofs = this.#proofs(written, valueOf, node);
    if (proofs.length === 0) {
      this.#fault(
        node,
        'an alternative of any asks for nothing',
        'Write { requires: [ … ] } or { owner: { … } }.',
      );
    }
    return proofs;
  }

  #proofs(
    { requires, claim, owner }: Written,
    valueOf: (name: string) => ConstValueNode | undefined,
    node: ConstDirectiveNode | ConstValueNode,
  ): Proof[] {
    const proofs: Proof[] = [];
    if (requires === undefined || requires === null) {
      if (claim !== undefined) {
        this.#fault(
          valueOf('claim') ?? node,
          'claim without requires',
          'Write requires: [ … ] with the values of the claim that are let in.',
        );
      }
    } else {
      if (requires.length === 0 || requires.includes('')) {
        const message = `requires expects at least one value and no empty text, got ${JSON.stringify(requires)}`;
        this.#fault(
          valueOf('requires') ?? node,
          message,
          'Leave it out to let all authenticated viewers in.',
        );
      }
      proofs.push(claimProof(this.#path(claim ?? DEFAULT_CLAIM, valueOf('claim') ?? node), requires));
    }
    if (owner !== undefined && owner !== null) proofs.push(...this.#owner(owner, valueOf('owner') ?? node));
    return proofs;
  }

  #owner(owner: NonNullable<Written['owner']>, node: ConstValueNode | ConstDirectiveNode): Proof[] {
    const claim = this.#path(owner.claim, node);
    const value = node.kind === Kind.OBJECT ? node : undefined;
    const named = (name: string) => value?.fields.find((field) => field.name.value === name)?.value;
    const [argument, field] = [named('argument'), named('field')];
    if (argument && !field && owner.argument) {
      return [{ kind: 'argument', claim, argument: owner.argument, node: argument }];
    }
    if (field && !argument && owner.field) {
      return [{ kind: 'field', claim, field: this.#path(owner.field, field), node: field }];
    }
    this.#fault(
      node,
      'owner expects either an argument or a field, not both and not neither',
      'Write owner: { argument: "user_id" } or owner: { field: "owner_id" }.',
    );
    return [];
  }

  #path(text: string, node: ConstValueNode | ConstDirectiveNode): Path {
    const path = text.split('.');
    if (path.some((name) => !/^[^\s$]+$/.test(name))) {
      this.#fault(
        node,
        `expected names separated by dots, got ${JSON.stringify(text)}`,
        'Write "role" or "realm.roles".',
      );
    }
    return path;
  }

  #fault(node: ConstValueNode | ConstDirectiveNode, message: string, hint: string): void {
    this.#findings.error(placeOf(node, this.#file), `@auth: ${message}`, hint);
  }
}
