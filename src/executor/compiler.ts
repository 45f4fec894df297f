import type { ExecutionResult, FieldNode, GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from '#graphql-jit';
import { FlatOperation, NotCompilable } from './flat-operation.ts';
import { JitSchema, type CompiledRun } from './jit-schema.ts';
import type { Operation } from './operation.ts';
import type { Variables } from './variables.ts';

/** The code of one specialization. */
export interface CompiledOperation {
  /** If it throws, rejects or reports errors, graphql-js has to execute the operation instead. */
  readonly execute: (rootValue: unknown, run: CompiledRun) => ExecutionResult | Promise<ExecutionResult>;
  /** Number of compiled fields; see FlatOperation. */
  readonly size: number;
}

/** Compiles the operations of one schema with graphql-jit. */
export class Compiler {
  readonly #schema: GraphQLSchema;
  #copy: JitSchema | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /**
   * @param variables coerced; the code is valid for all executions in which the variables of conditions have these
   *   values
   * @throws NotCompilable, or an error of graphql-jit
   */
  compile(operation: Operation, variables: Variables): CompiledOperation {
    const flat = new FlatOperation(this.#schema, operation, variables);
    const copy = (this.#copy ??= new JitSchema(this.#schema));
    const original = { schema: this.#schema, fragments: flat.fragments, operation: operation.definition };
    const compiled = compileQuery(copy.schema, flat.document, undefined, {
      customSerializers: copy.serializers,
      // After an error of compiled code graphql-js executes the operation again, so the stack is never shown.
      disablingCapturingStackErrors: true,
      resolverInfoEnricher: ({ fieldNodes }: { fieldNodes: readonly FieldNode[] }) => {
        const { typenames, ...site } = flat.site(fieldNodes[0]) ?? {};
        // JitSchema puts the variables in this place when it has read the typenames.
        return { ...original, ...site, variableValues: typenames };
      },
      useExperimentalPathBasedSkipInclude: true,
    });
    if (!isCompiledQuery(compiled)) {
      throw new NotCompilable(compiled.errors?.map(({ message }) => message).join('; '));
    }
    return { execute: (rootValue, run) => compiled.query(rootValue, run, undefined), size: flat.size };
  }
}
