/** `npm run policy -- [--examples] <folder> …`: docs/operations/kubernetes.md describes it. */
import { runBuilt } from './lib/run-built.mjs';

await runBuilt('test/deploy/policy/cli.js');
