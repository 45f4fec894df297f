/** A process of clients that all come back at once. It gets its assignment as an argument and commands over IPC. */
import { ReturningClient } from './returning-client.ts';
import type { AllSubscribed, StormAssignment, StormCommand } from './storm-messages.ts';

/** Clients that connect in each step of `open`: fewer than the gateway takes in a second. */
const STEP = { clients: 40, ms: 100 };

/** Each address has 28,000 ports for connections. */
const LOCAL_ADDRESSES = 20;

const { endpoint, sockets, variables } = JSON.parse(process.argv[2] ?? '') as StormAssignment;
let began = 0;
let subscribed = 0;
let refusals = 0;

const owner = {
  subscribed: () => {
    subscribed += 1;
    if (subscribed < sockets) return;
    process.send?.({ ms: performance.now() - began, refusals } satisfies AllSubscribed);
  },
  refused: () => (refusals += 1),
};

const clients = Array.from(
  { length: sockets },
  (_, index) => new ReturningClient(endpoint, `127.0.2.${1 + (index % LOCAL_ADDRESSES)}`, variables, owner),
);

const commands: Readonly<Record<StormCommand, () => void>> = {
  open: () => openFrom(0),
  leave: () => {
    for (const client of clients) client.cut();
  },
  return: () => {
    for (const client of clients) client.connect();
  },
};

function openFrom(first: number): void {
  for (const client of clients.slice(first, first + STEP.clients)) client.connect();
  if (first + STEP.clients < sockets) setTimeout(() => openFrom(first + STEP.clients), STEP.ms);
}

process.on('message', (command: StormCommand) => {
  began = performance.now();
  subscribed = 0;
  refusals = 0;
  commands[command]();
});
process.once('disconnect', () => process.exit());
