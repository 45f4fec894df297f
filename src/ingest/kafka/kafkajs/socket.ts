import net from 'node:net';
import tls from 'node:tls';
import type { ISocketFactory } from '#kafkajs';
import type { KafkaCredentials } from '../credentials/credentials.ts';
import { NO_TLS, tlsRefusal } from '../credentials/tls-refusal.ts';

/** The code of an error that another attempt can't fix. */
export const TLS_REFUSED = 'SLUICE_TLS_REFUSED';

/** The same as in kafkajs's own socket factory. */
const KEEP_ALIVE_MS = 60_000;

/** Connects with the present certificates; kafkajs's own socket factory has those of the start. */
export function socketFactory(credentials: KafkaCredentials['tls']): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const address = { host, port };
    const socket =
      credentials === undefined
        ? net.connect(address, onConnect)
        : secureSocket(credentials, address, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    return socket;
  };
}

function secureSocket(
  credentials: NonNullable<KafkaCredentials['tls']>,
  address: { readonly host: string; readonly port: number },
  onConnect: () => void,
): net.Socket {
  const shown = credentials();
  const servername = net.isIP(address.host) === 0 ? { servername: address.host } : {};
  const socket = tls.connect({ ...address, ...servername, ...shown }, onConnect);
  // Listens before kafkajs does, which makes its own error from the message and the code.
  socket.on('error', (error) => {
    const refusal = tlsRefusal(error, socket, shown);
    if (refusal === undefined) return;
    Object.assign(error, { message: `${NO_TLS}${refusal}`, code: TLS_REFUSED });
  });
  return socket;
}
