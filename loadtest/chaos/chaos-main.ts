/** A process of clients that resume. It gets its assignment as an argument and commands over IPC. */
import type { ChaosAnswers, ChaosAssignment, ChaosCommand, Numbers } from './chaos-messages.ts';
import { ResumingClient } from './resuming-client.ts';
import { groupOf, stockSubscriptionOf, subscriptionOf, TIMED_SUBSCRIPTION } from './subscriptions.ts';

/** Clients that connect in each step of `open`: fewer than two pods take in a second. */
const STEP = { clients: 40, ms: 100 };

/** The share of cut clients whose next connection is cut too, as soon as they are greeted. */
const AGAIN_SHARE = 0.25;

/** Each address has 28,000 ports for connections. */
const LOCAL_ADDRESSES = 20;

const {
  endpoint,
  first,
  clients: count,
  channels,
  times,
  stock,
} = JSON.parse(process.argv[2] ?? '') as ChaosAssignment;
const delays: number[] = [];
const dealOut = stock ? stockSubscriptionOf : subscriptionOf;

const clients = Array.from(
  { length: count },
  (_, index) =>
    new ResumingClient({
      client: first + index,
      subscription: times ? TIMED_SUBSCRIPTION : dealOut(first + index, channels),
      endpoint,
      localAddress: `127.0.3.${1 + (index % LOCAL_ADDRESSES)}`,
      delayed: times ? (ms) => void delays.push(ms) : undefined,
    }),
);

type Handlers = {
  [Type in ChaosCommand['type']]: (command: Extract<ChaosCommand, { type: Type }>) => ChaosAnswers[Type];
};

const handlers: Handlers = {
  open: () => {
    openFrom(0);
    return true;
  },
  cut: ({ share }) => {
    for (const client of clients)
      if (Math.random() < share) client.cut({ again: Math.random() < AGAIN_SHARE });
    return true;
  },
  leave: () => {
    for (const client of clients) client.leave();
    return true;
  },
  return: () => {
    for (const client of clients) client.connect();
    return true;
  },
  count: ({ sent }) => {
    const greeted = clients.filter(({ isGreeted }) => isGreeted);
    return { greeted: greeted.length, complete: greeted.filter((client) => isComplete(client, sent)).length };
  },
  places,
  delays: () => delays.splice(0),
  close: ({ sent }) =>
    clients.map(({ account, isGreeted }) => {
      if (!isGreeted) account.fault('expected to be connected and greeted at the end');
      return account.close(sent);
    }),
};

function openFrom(from: number): void {
  for (const client of clients.slice(from, from + STEP.clients)) client.connect();
  if (from + STEP.clients < count) setTimeout(() => openFrom(from + STEP.clients), STEP.ms);
}

function isComplete({ account }: ResumingClient, sent: Numbers): boolean {
  return Object.entries(account.last).every(([channel, last]) => last >= (sent[channel] ?? 0));
}

function places(): Record<string, Numbers> {
  const lowest: Record<string, Record<string, number>> = {};
  for (const { account, subscription } of clients) {
    const group = (lowest[groupOf(subscription)] ??= {});
    for (const [channel, last] of Object.entries(account.last)) {
      group[channel] = Math.min(group[channel] ?? last, last);
    }
  }
  return lowest;
}

process.on('message', ({ number, command }: { number: number; command: ChaosCommand }) => {
  process.send?.({ number, answer: handlers[command.type](command as never) });
});
process.once('disconnect', () => process.exit());
