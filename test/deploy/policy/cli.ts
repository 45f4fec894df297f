/** `npm run policy`: checks what manifests come to. See docs/operations/kubernetes.md. */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { parseArgs, promisify } from 'node:util';
import { parseManifests } from './manifests.ts';
import { judge } from './policy.ts';

const USAGE = `npm run -s policy -- [--examples] <folder of a kustomization | file of manifests | -> …`;

const { values, positionals } = argumentsGiven();
if (positionals.length === 0) {
  console.error(USAGE);
  process.exitCode = 2;
}
for (const place of positionals) {
  const yaml = await yamlOf(place).catch((error: Error & { stderr?: string }) => {
    console.error(`${place}: ${error.stderr || error.message}`.trim());
  });
  if (yaml === undefined) {
    process.exitCode = 1;
    continue;
  }
  const { faults, notes } = judge(parseManifests(yaml), values);
  for (const note of notes) console.log(`note: ${note}`);
  for (const fault of faults) console.log(`fault: ${fault}`);
  console.log(`${place}: ${faults.length} faults`);
  if (faults.length > 0) process.exitCode = 1;
}

/** @returns none if they are wrong */
function argumentsGiven() {
  const options = { examples: { type: 'boolean', default: false } } as const;
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    console.error((error as Error).message);
    return { values: {}, positionals: [] };
  }
}

/** What kustomize makes of a folder, or what is in a file or on standard input. */
async function yamlOf(place: string): Promise<string> {
  if (place === '-') return text(process.stdin);
  if (!(await stat(place)).isDirectory()) return readFile(place, 'utf8');
  const { stdout } = await promisify(execFile)('kubectl', ['kustomize', place], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}
