import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { Contexts } from '../../../src/context/event-scope.ts';
import type { BackendBinder } from '../../../src/context/execution.ts';
import { Executor } from '../../../src/executor/executor.ts';
import { Operation } from '../../../src/executor/operation.ts';
import { loadGraph } from '../../../src/graph/loader/load-graph.ts';
import { Group } from '../../../src/hub/group.ts';
import type { Json } from '../../../src/lazy/reads.ts';
import { createLog } from '../../../src/log.ts';
import { graphFolder } from '../../helpers/graph-folder.ts';
import { FakeSubscriber, setUp } from './parts.ts';

/** A graph with `@auth`, loaded from its schema, with the parts that execute it. */
export async function authWorld(
  t: TestContext,
  schemaText: string,
  code?: string,
  backends: BackendBinder = { bind: () => ({}) },
) {
  const folder = await graphFolder(t, { 'schema.graphql': schemaText, ...(code && { 'graph.js': code }) });
  const graph = await loadGraph(folder);
  const executor = new Executor({ schema: graph.schema, cacheSize: 1_000, log: createLog('silent') });
  const contexts = new Contexts(graph.definition, backends, Date.now, graph);
  const { bindings, hasResolvers } = graph;
  const options = { bindings, hasResolvers, executor, contexts, concurrency: 1_000, maxWaiting: 1_000 };
  const { bus, hub, value } = setUp({ ...options, maxChannels: 100 });
  let offset = 0;

  const prepare = (query: string): Operation => {
    const operation = executor.prepare(query);
    assert.ok(operation instanceof Operation, `${JSON.stringify(operation)}\n${query}`);
    return operation;
  };
  const subscribe = (query: string, viewer: Json, variables: Record<string, unknown> = {}) => {
    const subscriber = new FakeSubscriber(viewer);
    const group = hub.join(prepare(query), variables, subscriber);
    return group instanceof Group
      ? { subscriber, group, errors: undefined }
      : { subscriber, group: undefined, errors: group };
  };
  return {
    bus,
    executor,
    subscribe,
    /** Subscribes a viewer who may. */
    join: (query: string, viewer: Json, variables?: Record<string, unknown>) => {
      const { subscriber, group, errors } = subscribe(query, viewer, variables);
      assert.ok(group, JSON.stringify(errors));
      return { subscriber, group };
    },
    leave: (group: Group, subscriber: FakeSubscriber): void => hub.leave(group, subscriber),
    /** Subscribes a viewer who may not. */
    refused: (query: string, viewer: Json, variables?: Record<string, unknown>): readonly GraphQLError[] => {
      const { errors } = subscribe(query, viewer, variables);
      assert.ok(errors, 'expected a refusal');
      return errors;
    },
    send: (event: object, channel = 'events') => bus.carry(channel, (offset += 1), event),
    query: (text: string, viewer: Json, variables = {}): ExecutionResult | Promise<ExecutionResult> =>
      executor.execute(prepare(text), undefined, contexts.queryExecution(viewer).context, variables),
    executions: () => value('executions'),
  };
}

/** What a client gets of it. */
export const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
