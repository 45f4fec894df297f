import type { ExecutionResult, FieldNode, GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { FlatOperation, NotCompilable } from './flat-operation.ts';
import { JitSchema, type CompiledRun } from './jit-schema.ts';
import type { Operation } from './operation.ts';
import type { Variables } from './variables.ts';

/** An operation as code. */
export interface CompiledOperation {
  /** Throws, rejects, or has errors where graphql-js has to run it instead. */
  readonly execute: (rootValue: unknown, run: CompiledRun) => ExecutionResult | Promise<ExecutionResult>;
  /** Fields compiled; see FlatOperation. */
  readonly size: number;
}

/** Turns operations into code by graphql-jit, for one schema. */
export class Compiler {
  readonly #schema: GraphQLSchema;
  #copy: JitSchema | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /**
   * @param variables coerced; the code fits all executions in which variables of conditions have these values
   * @throws NotCompilable, or whatever graphql-jit comes upon
   */
  compile(operation: Operation, variables: Variables): CompiledOperation {
    const flat = new FlatOperation(this.#schema, operation, variables);
    const copy = (this.#copy ??= new JitSchema(this.#schema));
    const original = { schema: this.#schema, fragments: flat.fragments, operation: operation.definition };
    const compiled = compileQuery(copy.schema, flat.document, undefined, {
      customSerializers: copy.serializers,
      // Whoever sees an error of compiled code runs the operation again, so its stack is of no use.
      disablingCapturingStackErrors: true,
      resolverInfoEnricher: ({ fieldNodes }: { fieldNodes: readonly FieldNode[] }) => ({
        ...original,
        ...flat.site(fieldNodes[0]),
      }),
      useExperimentalPathBasedSkipInclude: true,
    });
    if (!isCompiledQuery(compiled)) {
      throw new NotCompilable(compiled.errors?.map(({ message }) => message).join('; '));
    }
    return { execute: (rootValue, run) => compiled.query(rootValue, run, undefined), size: flat.size };
  }
}
