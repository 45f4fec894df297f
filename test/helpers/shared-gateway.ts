import type { GatewayProcess } from './gateway.ts';
import { fileScope, type Scope } from './scope.ts';

/**
 * A gateway that several tests of a file share, if they leave it as it was. To be called while the file is loaded.
 *
 * @param start called for the first test that asks, with the file's scope
 * @returns the gateway for a test: no connection of an earlier test is left, and counters begin anew
 */
export function sharedGateway(
  start: (scope: Scope) => Promise<GatewayProcess>,
): () => Promise<GatewayProcess> {
  const scope = fileScope();
  let starting: Promise<GatewayProcess> | undefined;
  return async () => {
    const gateway = await (starting ??= start(scope));
    await gateway.beginAnew();
    return gateway;
  };
}
