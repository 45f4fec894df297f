/** `yarn fuzz [--seed n] [--seconds n] [--clients n]`: hostile clients, and what an honest one notices of them. */
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('test/fuzz/cli.js');
