/**
 * The manual in the package: pages for authors of graphs and for operators of a gateway, the dashboard, the alerts, and
 * a separate README. A link whose target is not in the package becomes plain text.
 */
import { existsSync } from 'node:fs';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../ensure.mjs';

/** Copied to the same paths as in the repository. */
const PACKED = ['docs/README.md', 'docs/guides', 'docs/reference', 'docs/operations'];
const DEPLOYED = [
  'deploy/grafana/dashboard.json',
  'deploy/prometheus/alerts.yaml',
  'deploy/prometheus/adapter-rules.yaml',
];

/** Sources by path in the package. */
const RENAMED = { 'README.md': 'scripts/release/package-readme.md' };

/** The part of the index for readers with a checkout. */
const OF_CHECKOUT = /^## You change it$.*/ms;

/** A block of code, which stays as it is, or a link, or an image. */
const BLOCK_OR_LINK = /^```.*?^```$|(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/gms;

const ON_THE_WEB = /^[a-z]+:/;

/** @param folder of the package, which has all its other files already */
export async function writeDocumentation(folder) {
  for (const name of [...PACKED, ...DEPLOYED, 'CHANGELOG.md'])
    await cp(path.join(root, name), path.join(folder, name), { recursive: true });
  for (const [name, source] of Object.entries(RENAMED))
    await cp(path.join(root, source), path.join(folder, name));
  const files = await readdir(folder, { recursive: true });
  for (const name of files.filter((file) => file.endsWith('.md'))) {
    const file = path.join(folder, name);
    const text = await readFile(file, 'utf8');
    await writeFile(file, packedPage(folder, name, text.replace(OF_CHECKOUT, '')));
  }
}

/** @param name path of the page in the package */
function packedPage(folder, name, text) {
  const source = RENAMED[name] ?? name.replace(/^dist\//, '');
  return text.replaceAll(BLOCK_OR_LINK, (whole, image, label, target) => {
    if (target === undefined || target.startsWith('#') || ON_THE_WEB.test(target)) return whole;
    const [file, anchor] = target.split('#');
    const wanted = path.join(path.dirname(source), file);
    const found = [wanted, path.join('dist', wanted)].find((each) => existsSync(path.join(folder, each)));
    if (found === undefined) return image === '' ? label : '';
    const link = path.relative(path.dirname(name), found);
    return `${image}[${label}](${link}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}
