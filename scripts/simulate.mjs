/** `yarn simulate [--seeds n] [--from n] [--workers n] | --seed n […]`: docs/internals/simulation.md describes it. */
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('test/simulation/cli.js');
