/** One resolver waits, now longer, now shorter: results must come in the order of the events all the same. */
import { setTimeout as delay } from 'node:timers/promises';
import { defineGraph } from 'sluice';

type Update = { readonly n: number };

/** The first of four events takes longest. */
const TURNS = 4;
const TURN_MS = 5;

export default defineGraph({
  resolvers: {
    DelayedUpdate: {
      n: ({ n }: Update) => delay((TURNS - (n % TURNS)) * TURN_MS, n),
    },
  },
});
