/** `npm start`: what is missing is installed and built, then the gateway runs, in a consumer group of its own. Arguments go to it. */
import { ensureAll } from './ensure.mjs';

await ensureAll('RUNTIME');
process.setSourceMapsEnabled(true);
const { readEnvFile } = await import('../dist/src/cli/env-file.js');
const { ownGroup } = await import('../dist/src/cli/own-group.js');
// Before the group is filled in, which would win over that of the file.
readEnvFile(process.env);
// An empty variable counts as not set.
process.env.KAFKA_GROUP_ID ||= ownGroup('sluice-start');
await import('../dist/src/cli.js');
