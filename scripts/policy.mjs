/** `npm run policy -- [--examples] <folder> …`: see docs/operations/kubernetes.md. */
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('test/deploy/policy/cli.js');
