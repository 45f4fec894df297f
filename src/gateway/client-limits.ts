import type { Config } from '../config/settings.ts';
import type { ClientLimits } from '../transports/websocket/transport.ts';
import { shareOf } from './pod-share.ts';

/** What clients may have open in one process of a pod. */
export function clientLimits(config: Config, processes: number): ClientLimits {
  return {
    operationsOfViewer: config.MAX_OPERATIONS_PER_VIEWER,
    operationsOfPod: shareOf(config.MAX_OPERATIONS_PER_POD, processes),
    channelsOfConnection: config.MAX_CHANNELS_PER_CONNECTION,
    variablesOfConnection: config.MAX_VARIABLES_BYTES_PER_CONNECTION,
    connectionsOfViewer: config.MAX_CONNECTIONS_PER_VIEWER,
    viewerId: config.VIEWER_ID,
    lingerMs: config.CHANNEL_LINGER_MS,
  };
}
