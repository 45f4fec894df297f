/** Programs that tests of what is deployed need besides services: found, or fetched in the version named here. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { root } from '../ensure.mjs';
import { ensureCommands, findCommand } from './commands.mjs';
import { onceInCache } from './once-in-cache.mjs';
import { cacheFolder } from './places.mjs';
import { run } from './processes.mjs';

const KUBERNETES_VALIDATE = '1.34.1';

/** Between the oldest that `engines` allows, which tests run on, and that of the container image. */
const NODE_22 = '22.23.3';

const DOWNLOAD_TIMEOUT_MS = 180_000;

/** By name: fetches the program, and resolves to its path. Rejects with the reason why it can't be had. */
export const DEPLOY_TOOLS = {
  nginx,
  kubectl,
  'kubernetes-validate': kubernetesValidate,
  'image-node': imageNode,
  'node-22': () => nodeOf(NODE_22),
};

async function nginx() {
  await ensureCommands('nginx');
  return findCommand('nginx');
}

async function kubectl() {
  const found = findCommand('kubectl');
  if (found === undefined)
    throw new Error('kubectl not found on the PATH; Debian has none that is new enough.');
  return found;
}

/** Schemas of Kubernetes, and a program that checks manifests against them; from PyPI. */
async function kubernetesValidate() {
  const folder = path.join(cacheFolder, `kubernetes-validate-${KUBERNETES_VALIDATE}`);
  const python = findCommand('python3');
  if (python === undefined) throw new Error('python3 not found on the PATH.');
  await onceInCache(folder, async () => {
    console.error(`Installing kubernetes-validate ${KUBERNETES_VALIDATE} …`);
    // Made where it stays, as the paths in it are absolute; a mark says that it is whole.
    rmSync(folder, { recursive: true, force: true });
    await run(python, ['-m', 'venv', folder]);
    const install = ['install', '--quiet', `kubernetes-validate==${KUBERNETES_VALIDATE}`];
    await run(path.join(folder, 'bin/pip'), install, { timeoutMs: DOWNLOAD_TIMEOUT_MS });
  });
  return path.join(folder, 'bin/kubernetes-validate');
}

/** The Node.js of the container image, as npm has it. */
async function imageNode() {
  const [, version] = /^FROM node:([\d.]+)/m.exec(readFileSync(path.join(root, 'Dockerfile'), 'utf8')) ?? [];
  if (version === undefined) throw new Error('Expected FROM node:<version> in the Dockerfile, found none.');
  return nodeOf(version);
}

async function nodeOf(version) {
  if (process.platform !== 'linux')
    throw new Error(`Node.js is fetched for Linux; this is ${process.platform}.`);
  if (process.versions.node === version) return process.execPath;
  const folder = path.join(cacheFolder, `node-${version}`);
  await onceInCache(folder, async () => {
    console.error(`Downloading Node.js ${version} …`);
    const work = mkdtempSync(path.join(cacheFolder, 'node-'));
    try {
      const name = `node-${process.platform}-${process.arch}@${version}`;
      await run('npm', ['pack', '--silent', name], { cwd: work, timeoutMs: DOWNLOAD_TIMEOUT_MS });
      const archive = `node-${process.platform}-${process.arch}-${version}.tgz`;
      await run('tar', ['-xzf', archive, 'package/bin/node'], { cwd: work });
      mkdirSync(path.join(folder, 'bin'), { recursive: true });
      renameSync(path.join(work, 'package/bin/node'), path.join(folder, 'bin/node'));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  });
  return path.join(folder, 'bin/node');
}
