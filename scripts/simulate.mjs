/** `yarn simulate [--seeds n] [--from n] [--workers n] | --seed n […]`: see docs/internals/simulation.md. */
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('test/simulation/cli.js');
