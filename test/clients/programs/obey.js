import { createInterface } from 'node:readline';
import { sinkOf } from './told.js';

/** Where the gateway is, without a scheme, and who the client is. */
export const { GATEWAY, TOKEN, TRANSPORT } = process.env;

/**
 * Does what a test tells it on standard input, a line of JSON each, and tells on standard output what comes.
 *
 * @param {(operation: {query: string, variables: object}, sink: import('./told.js').Sink) => () => void} subscribe
 *   returns what ends the subscription
 */
export function obey(subscribe) {
  const stops = new Map();
  const lines = createInterface(process.stdin);
  lines.on('line', (line) => {
    const { id, stop, ...operation } = JSON.parse(line);
    if (stop) stops.get(id)();
    else stops.set(id, subscribe(operation, sinkOf(id, tell)));
  });
  lines.on('close', () => process.exit());
}

const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
