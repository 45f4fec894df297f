import type { GatewayProcess } from './gateway.ts';
import { fileScope, type Scope } from './scope.ts';

/**
 * A gateway for several tests of the file that calls this while it is loaded, for those that leave it as they found it.
 *
 * @param start is called by the first test that asks, with the file's scope
 * @returns for each test to ask: no connection of an earlier test is left then, and counters begin anew
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
