/** A process of clients. It gets its assignment as an argument and commands over IPC, and reports what arrives. */
import { REFUSED, type Assignment, type ClientCommand, type ClientMessage } from './client-messages.ts';
import { Subscriber, type Tally } from './subscriber.ts';
import { visit } from './visitor.ts';

/** Short enough for events that are sent one at a time, long enough to cost next to nothing. */
const PROGRESS_MS = 5;

/** Connections being opened at once: more would overrun the server's queue of connections. */
const OPENING = 100;

const MOST_FAULTS = 20;

/** Each address has 28,000 ports: the kernel searches long for a free port when few are left. */
const LOCAL_ADDRESSES = 20;

const assignment = JSON.parse(process.argv[2] ?? '') as Assignment;
const subscribers: Subscriber[] = [];
const faults: string[] = [];
const handshakes: number[] = [];
const endings: Record<string, number> = {};
let openedAt = 0;
let unexpected = 0;
let awaited: number | undefined;
let visiting: NodeJS.Timeout | undefined;

const tally: Tally = {
  open: 0,
  deliveries: 0,
  bytes: 0,
  delays: [],
  closed: ({ stalls }, ending) => {
    if (stalls) endings[ending] = (endings[ending] ?? 0) + 1;
    else {
      unexpected += 1;
      tally.fault(`a socket that reads has ended: ${ending}`);
    }
  },
  fault: (what) => {
    if (faults.length < MOST_FAULTS) faults.push(what);
  },
};

const send = (message: ClientMessage): void => void process.send?.(message);

type Handlers = {
  [Type in ClientCommand['type']]: (command: Extract<ClientCommand, { type: Type }>) => void;
};

const handlers: Handlers = {
  open: () => {
    openedAt = performance.now();
    openSome();
  },
  await: ({ seq }) => {
    awaited = seq;
  },
  stall: () => stalling().forEach((subscriber) => subscriber.stall()),
  release: () => stalling().forEach((subscriber) => subscriber.release()),
  visit: ({ everyMs }) => {
    visiting = setInterval(() => void admitVisitor(), everyMs);
  },
  'stop-visiting': () => clearInterval(visiting),
  report: () =>
    send({
      type: 'report',
      delays: tally.delays.splice(0),
      handshakes: handshakes.splice(0),
      faults: faults.splice(0),
      endings: { ...endings },
    }),
};

function openSome(): void {
  const { first, sockets, stalled, perSecond = Infinity } = assignment;
  const until = Math.min(sockets, tally.open + OPENING, ((performance.now() - openedAt) / 1_000) * perSecond);
  while (subscribers.length < until) {
    const index = subscribers.length;
    const localAddress = `127.0.1.${1 + (index % LOCAL_ADDRESSES)}`;
    subscribers.push(
      new Subscriber(first + index, localAddress, assignment, index >= sockets - stalled, tally),
    );
  }
  if (subscribers.length < sockets) setTimeout(openSome, 1);
}

function stalling(): Subscriber[] {
  return subscribers.filter(({ stalls }) => stalls);
}

async function admitVisitor(): Promise<void> {
  const [endpoint] = assignment.endpoints;
  const ms = endpoint && (await visit(endpoint, assignment.load));
  if (ms === undefined) tally.fault(REFUSED);
  else handshakes.push(ms);
}

let sent = '';
setInterval(() => {
  const { open, deliveries, bytes } = tally;
  const progress = { open, deliveries, bytes, closed: unexpected };
  const text = JSON.stringify(progress);
  if (text !== sent) send({ type: 'progress', ...progress });
  sent = text;
  // `reached` follows the progress message with the matching count.
  if (awaited === undefined || subscribers.some(({ last }) => last < (awaited ?? 0))) return;
  send({ type: 'reached', seq: awaited });
  awaited = undefined;
}, PROGRESS_MS);

process.on('message', (command: ClientCommand) => handlers[command.type](command as never));
process.once('disconnect', () => process.exit());
