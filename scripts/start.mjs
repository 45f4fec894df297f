/** `npm start`: what is missing is installed and built, then the gateway runs. Arguments go to it. */
import { ensureAll } from './ensure.mjs';

await ensureAll('RUNTIME');
process.setSourceMapsEnabled(true);
await import('../dist/src/cli.js');
