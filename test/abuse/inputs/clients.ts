import { subscribeMessage } from '../../helpers/raw-socket.ts';
import { frame } from '../../fuzz/frame.ts';
import { attackWith, endless, postHead, upgradeRequest } from './raw-connections.ts';
import { repeated, text, wideJson, type Attacks } from './shapes.ts';

/** Bytes, a little less than a message or a body may have. */
const LARGE = 65_000;

/** ms for which slow connections stay. */
const HELD_MS = 500;

const ping = (bytes: number): Buffer => frame(`{"type":"ping","payload":{"a":"${text(bytes)}"}}`);

const HELLO = frame(JSON.stringify({ type: 'connection_init', payload: { pad: text(126) } }));

/** Opens a WebSocket and says hello, before it attacks. */
function* greeted(pieces: Iterable<string | Buffer>): Generator<string | Buffer> {
  yield upgradeRequest();
  yield HELLO;
  yield* pieces;
}

/** One byte of a text that goes on. */
const fragment = (opcode: number): Buffer => frame('x', { opcode, isFinal: false });

export const webSocketMessage: Attacks = {
  long: ({ gateway }) => attackWith(gateway.port, 200, () => greeted(repeated(ping(LARGE), 20))),
  wide: ({ gateway }) => {
    const variables = JSON.parse(wideJson(4_000)) as Record<string, unknown>;
    const message = frame(JSON.stringify(subscribeMessage('1', '{ __typename }', variables)));
    return attackWith(gateway.port, 100, () => greeted(repeated(message, 10)));
  },
  many: ({ gateway }) => {
    const messages = Buffer.concat(repeated(ping(100), 400));
    return attackWith(gateway.port, 20, () => greeted(repeated(messages, 50)));
  },
  slow: ({ gateway }) => {
    const part = frame(text(60_000), { announced: LARGE });
    return attackWith(gateway.port, 2_500, () => greeted([part]), HELD_MS);
  },
  endless: ({ gateway }) => {
    const more = Buffer.concat(repeated(fragment(0), 5_000));
    return attackWith(gateway.port, 50, () => greeted(endless(more, fragment(1))));
  },
};

const query = (variables: string): string => `{"query":"{ __typename }","variables":${variables}}`;
const longQuery = (bytes: number): string => query(`{"a":"${text(bytes)}"}`);
const post = (body: string): string => postHead(body.length) + body;

export const postBody: Attacks = {
  long: ({ gateway }) => attackWith(gateway.port, 300, () => repeated(post(longQuery(LARGE)), 10)),
  wide: ({ gateway }) => attackWith(gateway.port, 50, () => repeated(post(query(wideJson(4_000))), 10)),
  many: ({ gateway }) => attackWith(gateway.port, 2, () => repeated(post(longQuery(1_000)), 5_000)),
  slow: ({ gateway }) =>
    attackWith(gateway.port, 2_500, () => [post(longQuery(LARGE)).slice(0, 60_000)], HELD_MS),
  endless: ({ gateway }) =>
    attackWith(gateway.port, 100, () => endless(`4000\r\n${text(16_384)}\r\n`, postHead())),
};

const header = (bytes: number): string => `x-a: ${text(bytes)}\r\n`;

export const upgrade: Attacks = {
  long: ({ gateway }) => attackWith(gateway.port, 1_000, () => [upgradeRequest(header(14_000))]),
  wide: ({ gateway }) => attackWith(gateway.port, 500, () => [upgradeRequest(header(1).repeat(1_500))]),
  many: ({ gateway }) => attackWith(gateway.port, 3_500, () => [upgradeRequest()], HELD_MS),
  slow: ({ gateway }) =>
    attackWith(gateway.port, 2_500, () => [upgradeRequest(header(14_000)).slice(0, 14_000)], HELD_MS),
  endless: ({ gateway }) =>
    attackWith(gateway.port, 100, () => endless(header(1_000), upgradeRequest().slice(0, -2))),
};
