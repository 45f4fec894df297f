/**
 * `sluice/testing`: a graph's own tests, in the process of the test. Here are its types; in the package `testing.cjs` is
 * loaded, which is for runners that give each test file a context of its own, too.
 */
import type { TestGatewayOptions } from './options.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

export type { FakeBackend, FakeCall } from './fake-backends.ts';
export type { TestSubscription } from './subscription.ts';
export type { AskOptions, PublishOptions, TestGatewayOptions } from './options.ts';
export type { OperationRefused, TestGateway } from './test-gateway.ts';

/**
 * A gateway with the graph in a folder, without Kafka, Redis and ports: events that are published go the way of Kafka's
 * to the subscriptions of the test.
 *
 * @throws SluiceError BAD_GRAPH or BAD_SETTINGS
 */
export function testGateway(folder: string, options: TestGatewayOptions = {}): Promise<TestGateway> {
  return startTestGateway(folder, options);
}
