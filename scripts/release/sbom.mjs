/**
 * `npm run sbom -- [--peers] [file]`: lists the parts of a gateway besides its own code, as CycloneDX (JSON): each
 * package that it needs in production, in the version of yarn.lock, whether installed or vendored, and the packages of
 * GraphiQL that browsers load. `--peers` adds optional peers, as in the container image. Writes the file, by default
 * `.release/sluice-<version>.cdx.json`, and prints its path.
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { GRAPHIQL_FILES } from '../build.mjs';
import { ensureInstalled, root } from '../ensure.mjs';
import { readArguments } from '../lib/arguments.mjs';
import { run } from '../lib/processes.mjs';
import { withPeers } from './with-peers.mjs';

/** 'patch:kafkajs@npm%3A2.2.4#~/.yarn/patches/….patch' */
const PATCHED = /^patch:.+@npm%3A(?<version>[^#]+)#~\/(?<patch>.+)$/;

/** 'git@github.com:owner/name.git' */
const SSH = /^(\w+@[\w.-]+):/;

const { positionals, values } = readArguments('Usage: npm run sbom -- [--peers] [file]', {
  options: { peers: { type: 'boolean', default: false } },
  words: 1,
});
ensureInstalled();
const packageJson = await readJson(path.join(root, 'package.json'));
const manifest = values.peers ? withPeers(packageJson) : packageJson;
const { name, version, description, license } = manifest;
const patches = Object.entries(manifest.dependencies).flatMap(([dependency, range]) => {
  const { groups } = PATCHED.exec(range) ?? {};
  return groups === undefined ? [] : [[dependency, groups]];
});
const [target = path.join(root, '.release', `${name}-${version}.cdx.json`)] = positionals;

const sbom = await installedInProduction();
for (const [dependency, { patch }] of patches) {
  // The version stays the registry's, by which scanners know the package's faults.
  componentOf(dependency).pedigree = { patches: [{ type: 'unofficial', diff: { url: patch } }] };
}
const dependsOn = sbom.dependencies.find(({ ref }) => ref === sbom.metadata.component['bom-ref']).dependsOn;
for (const component of await loadedByBrowsers()) {
  const ref = component['bom-ref'];
  if (sbom.components.some((each) => each['bom-ref'] === ref)) continue;
  sbom.components.push(component);
  sbom.dependencies.push({ ref, dependsOn: [] });
  dependsOn.push(ref);
}
await mkdir(path.dirname(target), { recursive: true });
await writeFile(target, `${JSON.stringify(sbom, undefined, 2)}\n`);
console.log(target);

/** Yarn installs the packages elsewhere, since it has the patch; npm lists them, but can't read Yarn's package.json. */
async function installedInProduction() {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-sbom-'));
  try {
    await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest));
    for (const file of ['yarn.lock', '.yarnrc.yml', '.yarn/releases', '.yarn/patches']) {
      await cp(path.join(root, file), path.join(folder, file), { recursive: true });
    }
    const [release] = await readdir(path.join(folder, '.yarn/releases'));
    const yarn = path.join(folder, '.yarn/releases', release);
    await run(process.execPath, [yarn, 'workspaces', 'focus', '--production'], { cwd: folder });
    const ranges = Object.fromEntries(patches.map(([dependency, groups]) => [dependency, groups.version]));
    const dependencies = { ...manifest.dependencies, ...ranges };
    const forNpm = { name, version, description, license, dependencies, overrides: manifest.resolutions };
    await writeFile(path.join(folder, 'package.json'), JSON.stringify(forNpm));
    const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
    const listed = JSON.parse(await run('npm', ['sbom', ...options], { cwd: folder }));
    // npm takes the name from the folder.
    listed.metadata.component.name = name;
    // npm copies repositories from packages, and a scanner may refuse the whole list because of one that is no URL.
    for (const reference of listed.components.flatMap(({ externalReferences }) => externalReferences))
      reference.url = reference.url.replace(SSH, 'ssh://$1/');
    return listed;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function componentOf(dependency) {
  const found = sbom.components.find((component) => component.name === dependency);
  if (found === undefined) throw new Error(`expected ${dependency} among what is installed, found none`);
  return found;
}

/** Lists packages in npm's form, but not what their authors have bundled into these files. */
function loadedByBrowsers() {
  const names = new Set(Object.values(GRAPHIQL_FILES).map((file) => file.split('/')[0]));
  return Promise.all(
    [...names].map(async (dependency) => {
      const found = await readJson(path.join(root, 'node_modules', dependency, 'package.json'));
      return {
        'bom-ref': `${found.name}@${found.version}`,
        type: 'library',
        name: found.name,
        version: found.version,
        scope: 'required',
        description: found.description,
        purl: `pkg:npm/${found.name}@${found.version}`,
        licenses: [{ license: { id: found.license } }],
      };
    }),
  );
}

async function readJson(file) {
  return JSON.parse(await readFile(file, 'utf8'));
}
