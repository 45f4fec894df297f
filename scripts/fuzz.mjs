/** `yarn fuzz [--seed n] [--seconds n] [--clients n]`: runs hostile clients, and checks an honest one beside them. */
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('test/fuzz/cli.js');
