import type { Config } from '../config/settings.ts';
import type { OperationLimits } from '../transports/connections/operation-caps.ts';
import { shareOf } from './pod-share.ts';

/** What clients may have open in one process of a pod. */
export function operationLimits(config: Config, processes: number): OperationLimits {
  return {
    operationsOfConnection: config.MAX_OPERATIONS,
    operationsOfViewer: config.MAX_OPERATIONS_PER_VIEWER,
    operationsOfPod: shareOf(config.MAX_OPERATIONS_PER_POD, processes),
    channelsOfConnection: config.MAX_CHANNELS_PER_CONNECTION,
    variablesOfConnection: config.MAX_VARIABLES_BYTES_PER_CONNECTION,
    lingerMs: config.CHANNEL_LINGER_MS,
  };
}
