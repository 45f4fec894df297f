/**
 * `sluice/testing`: a gateway for a graph's own tests, in the process of the test. This file has the types; the package
 * loads `testing.cjs`, which is also for runners that give each test file a context of its own.
 */
import type { TestGatewayOptions } from './options.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

export type { FakeBackend, FakeCall } from './fake-backends.ts';
export type { TestSubscription } from './subscription.ts';
export type { AskOptions, PublishOptions, TestGatewayOptions } from './options.ts';
export type { OperationRefused, TestGateway } from './test-gateway.ts';

/**
 * Makes a gateway with the graph in a folder, without Kafka, Redis and ports: published events take the same way to the
 * subscriptions of the test as events from Kafka.
 *
 * @throws SluiceError BAD_GRAPH or BAD_SETTINGS
 */
export function testGateway(folder: string, options: TestGatewayOptions = {}): Promise<TestGateway> {
  return startTestGateway(folder, options);
}
