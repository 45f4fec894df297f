import type { GatewayProcess, LogLine } from '../helpers/gateway.ts';
import type { Scope } from '../helpers/scope.ts';
import { redisUrl } from '../helpers/services.ts';
import { startItems } from './graph-gateway.ts';

export const WORKERS = 2;

export const LISTENS = 'a worker listens';

/** Delivers events that other pods consume: its workers have no consumer group to wait for. */
export async function startEdge(
  scope: Scope,
  settings: Record<string, string> = {},
): Promise<GatewayProcess> {
  const gateway = await startItems(scope, { REDIS_URL: redisUrl(), WORKERS: String(WORKERS), ...settings });
  await gateway.untilReady();
  return gateway;
}

export const linesOf = (gateway: GatewayProcess, msg: string): LogLine[] =>
  gateway.lines.filter((line) => line.msg === msg);

/** Waits for so many lines of the log, or more. */
export async function untilLines(gateway: GatewayProcess, msg: string, count: number): Promise<LogLine[]> {
  await gateway.untilLine(() => linesOf(gateway, msg).length >= count);
  return linesOf(gateway, msg);
}
