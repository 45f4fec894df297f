/** One resolver waits for different times: results must still come in the order of the events. */
import { setTimeout as delay } from 'node:timers/promises';
import { defineGraph } from 'sluice';

type Update = { readonly n: number };

/** The resolver waits longest for the first of four events. */
const TURNS = 4;
const TURN_MS = 5;

export default defineGraph({
  resolvers: {
    DelayedUpdate: {
      n: ({ n }: Update) => delay((TURNS - (n % TURNS)) * TURN_MS, n),
    },
  },
});
