import type { ExecutionResult } from 'graphql';
import type { Operation } from '../executor/operation.ts';
import type { OpenSpan, SpanPlace } from '../tracing/span.ts';

/**
 * @param parent undefined: the execution is not sampled
 * @param what names the executed thing, with few different values: not the operation's name, which a client chooses
 * @returns the span of an execution, to be ended with `endExecution`
 */
export function beginExecution(
  parent: SpanPlace | undefined,
  what: string,
  { kind, name }: Pick<Operation, 'kind' | 'name'>,
): OpenSpan | undefined {
  return parent?.begin(`execute ${what}`, 'INTERNAL', {
    'graphql.operation.type': kind,
    ...(name !== undefined && { 'graphql.operation.name': name }),
  });
}

export function endExecution(span: OpenSpan | undefined, { errors }: Pick<ExecutionResult, 'errors'>): void {
  if (span === undefined) return;
  const [first] = errors ?? [];
  const code = first?.extensions?.['code'];
  if (first !== undefined) span.fail(typeof code === 'string' ? code : 'GRAPHQL_ERROR', first.message);
  span.end();
}
