import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { loadConfig } from '../../src/config/config.ts';
import { Gateway } from '../../src/gateway/gateway.ts';
import { createLog } from '../../src/log.ts';
import { GATEWAY_DEFAULTS, GatewayProcess } from './gateway.ts';
import type { Scope } from './scope.ts';

/**
 * A gateway in the process of the tests, for behaviour that its ports and metrics show: it starts in a fraction of the
 * time of a separate process. It prints nothing, and is stopped with its scope.
 */
export async function embedGateway(
  scope: Scope,
  settings: Readonly<Record<string, string>>,
): Promise<GatewayProcess> {
  const config = loadConfig({ ...GATEWAY_DEFAULTS, ...settings });
  const gateway = await Gateway.create(config, createLog('silent'));
  const ports = await gateway.start();
  scope.after(() => gateway.stop());
  const noProcess = Object.assign(new EventEmitter(), { stderr: new EventEmitter() });
  return Object.assign(new GatewayProcess(noProcess as unknown as ChildProcessWithoutNullStreams), ports);
}
