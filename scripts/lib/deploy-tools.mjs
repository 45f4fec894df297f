/** Programs for tests of the deployment, besides services: finds them, or fetches the versions named here. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { root } from '../ensure.mjs';
import { ensureCommands, findCommand } from './commands.mjs';
import { onceInCache } from './once-in-cache.mjs';
import { cacheFolder } from './places.mjs';
import { run } from './processes.mjs';

const KUBERNETES_VALIDATE = '1.34.1';

/** A version between the oldest one that `engines` allows, which tests run on, and the container image's. */
const NODE_22 = '22.23.3';

const DOWNLOAD_TIMEOUT_MS = 180_000;

/** Functions by program: each fetches its program, and resolves to its path. Rejects with the reason if it can't. */
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

/** The schemas of Kubernetes, with a program that checks manifests against them; from PyPI. */
async function kubernetesValidate() {
  const folder = path.join(cacheFolder, `kubernetes-validate-${KUBERNETES_VALIDATE}`);
  const python = findCommand('python3');
  if (python === undefined) throw new Error('python3 not found on the PATH.');
  await onceInCache(folder, async () => {
    console.error(`Installing kubernetes-validate ${KUBERNETES_VALIDATE} …`);
    // Made in its final folder, since the paths in it are absolute. A mark says that it is complete.
    rmSync(folder, { recursive: true, force: true });
    await run(python, ['-m', 'venv', folder]);
    const install = ['install', '--quiet', `kubernetes-validate==${KUBERNETES_VALIDATE}`];
    await run(path.join(folder, 'bin/pip'), install, { timeoutMs: DOWNLOAD_TIMEOUT_MS });
  });
  return path.join(folder, 'bin/kubernetes-validate');
}

/** Fetches the container image's Node.js from npm. */
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
