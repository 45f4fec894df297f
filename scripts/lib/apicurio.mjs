/** A schema registry for tests: Apicurio, which speaks Confluent's API, too. */
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ensureCommands, findCommand } from './commands.mjs';
import { withLock } from './lock.mjs';
import { cacheFolder } from './places.mjs';
import { run } from './processes.mjs';

// The next one needs Java 21.
const VERSION = '2.6.13.Final';
const DOWNLOAD_TIMEOUT_MS = 600_000;

const folder = path.join(cacheFolder, `apicurio-${VERSION}`);

/** @returns {Promise<string>} the path of its jar */
export async function apicurio() {
  await ensureCommands('java', 'mvn', 'tar');
  await withLock(`${folder}.lock`, async () => {
    if (!existsSync(folder)) await download();
  });
  return path.join(folder, `apicurio-registry-app-${VERSION}-runner.jar`);
}

/** Unpacks to a temporary folder, which gets its final name only when all files are in it. */
async function download() {
  console.error(`Downloading Apicurio Registry ${VERSION} …`);
  const work = mkdtempSync(`${folder}-`);
  try {
    const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
    const artifact = `-Dartifact=io.apicurio:apicurio-registry-app:${VERSION}:tar.gz:all`;
    await run(findCommand('mvn'), ['-q', '-B', copy, artifact, `-DoutputDirectory=${work}`], {
      cwd: work,
      timeoutMs: DOWNLOAD_TIMEOUT_MS,
    });
    const archive = path.join(work, `apicurio-registry-app-${VERSION}-all.tar.gz`);
    await run(findCommand('tar'), ['-xzf', archive, '-C', work], { timeoutMs: DOWNLOAD_TIMEOUT_MS });
    rmSync(archive);
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
