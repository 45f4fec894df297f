import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { postJson } from '../../helpers/http-exchange.ts';
import { range } from '../../helpers/numbers.ts';
import type { Answer, Pod } from './pod.ts';
import { text, wideJson, type Attacks } from './shapes.ts';

/** Has many ask together for what the back end answers, and again when all have been answered. */
async function ask({ gateway, backEnd }: Pod, count: number, answer: Answer, times = 1): Promise<void> {
  backEnd.answer = answer;
  for (const _ of range(0, times)) {
    const asked = range(0, count).map(() => postJson(`${gateway.httpUrl}/graphql`, { query: '{ answer }' }));
    await Promise.all(asked);
  }
}

const answerWith =
  (json: string): Answer =>
  (response) =>
    void response.setHeader('content-length', json.length).end(json);

/** The attack is its rate, half a megabyte in a second: it waits for nothing. */
const answerSlowly: Answer = async (response) => {
  response.write('"');
  for (const _ of range(0, 10)) {
    response.write(text(50_000));
    await delay(100);
  }
  response.end('"');
};

/** Writes whenever the client has read what was written. */
function writeForEver(stream: Writable, piece: string): void {
  const more = (): void => {
    while (!stream.destroyed && stream.write(piece));
  };
  stream.on('drain', more);
  more();
}

const answerForEver: Answer = (response) => writeForEver(response, text(65_536));

/** Sends interim responses for ever, and no final one. */
const hintForEver: Answer = ({ socket }) => {
  if (socket !== null) writeForEver(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(1_000));
};

export const backEndAnswer: Attacks = {
  long: (pod) => ask(pod, 150, answerWith(JSON.stringify(text(3_500_000)))),
  wide: (pod) => ask(pod, 60, answerWith(wideJson(30_000))),
  many: (pod) => ask(pod, 200, answerWith('"short"'), 10),
  slow: (pod) => ask(pod, 150, answerSlowly),
  endless: async (pod) => {
    await ask(pod, 100, answerForEver);
    await ask(pod, 100, hintForEver);
  },
};
