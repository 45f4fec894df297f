import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { Certificate } from '../../../../src/server/tls/certificate.ts';
import { selfSigned, type Certificate as Files } from '../../../helpers/certificate.ts';
import { readableLog } from '../../ingest/parts.ts';
import { stillClock } from '../../support/still-clock.ts';
import { done, listen } from '../serve.ts';

/** A certificate whose files are looked at when the test says so. */
async function readFrom(t: TestContext, { certificateFile, keyFile }: Files) {
  const { log, lines } = readableLog('info');
  const expiries: number[] = [];
  const { clock, wakeAll } = stillClock();
  const certificate = new Certificate({
    files: { cert: certificateFile, key: keyFile },
    expires: (at) => expiries.push(at),
    clock,
    log,
  });
  t.after(() => certificate.stop());
  const look = async (): Promise<void> => {
    wakeAll();
    await nextTurn();
  };
  return { certificate, look, lines, expiries };
}

async function connected(port: number): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return socket;
}

async function shownAt(port: number): Promise<string> {
  const socket = await connected(port);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

const printOf = async ({ certificateFile }: Files): Promise<string> =>
  new X509Certificate(await readFile(certificateFile)).fingerprint256;

async function replace(files: Files, others: Files): Promise<void> {
  await copyFile(others.certificateFile, files.certificateFile);
  await copyFile(others.keyFile, files.keyFile);
}

/** A server that shows one, and the files of another. */
async function shown(t: TestContext) {
  const [files, others] = [await selfSigned(t), await selfSigned(t)];
  const parts = await readFrom(t, files);
  const { port } = await listen(t, { handle: done, certificate: parts.certificate });
  return { files, others, port, ...parts };
}

const missing = (files: Files) => ({ ...files, certificateFile: `${files.certificateFile}.missing` });
const noCertificate = async (files: Files) => {
  await writeFile(files.certificateFile, 'no certificate');
  return files;
};
const keyOfOther = (files: Files, { keyFile }: Files) => ({ ...files, keyFile });

describe('Certificate', () => {
  it('is shown to new connections when its files have changed, and those before go on', async (t) => {
    const { files, others, look, lines, expiries, port } = await shown(t);
    const before = await connected(port);
    t.after(() => before.destroy());
    assert.equal(await shownAt(port), await printOf(files));
    await look();
    assert.equal(lines.length, 0);
    await replace(files, others);
    await look();
    assert.equal(await shownAt(port), await printOf(others));
    assert.equal(lines[0]?.['msg'], 'a new certificate is in use');
    assert.equal(expiries.length, 2);
    before.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const [answer] = (await once(before, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 200/);
  });

  it('stays in use while its files are no pair, which is said once, until they are one', async (t) => {
    const { files, others, look, lines, port } = await shown(t);
    const print = await printOf(files);
    await copyFile(others.certificateFile, files.certificateFile);
    await look();
    await look();
    assert.equal(await shownAt(port), print);
    const levels = lines.map(({ level }) => level);
    assert.deepEqual(levels, [50]);
    const said = /^the certificate stays in use that was read before: TLS_KEY: expected /;
    assert.match(String(lines[0]?.['msg']), said);
    await replace(files, others);
    await look();
    assert.equal(await shownAt(port), await printOf(others));
  });

  it('says when it expires, in seconds', async (t) => {
    const { expiries } = await readFrom(t, await selfSigned(t));
    const inDays = ((expiries[0] ?? 0) - Date.now() / 1_000) / 86_400;
    assert.ok(inDays > 29 && inDays <= 30, `expected the 30 days of openssl, got ${inDays}`);
  });

  for (const [what, of, message] of [
    ['a file that is missing', missing, /^TLS_CERT: expected a file that can be read, got .*missing: ENOENT/],
    [
      'text that is no certificate',
      noCertificate,
      /^TLS_CERT: expected a file with a certificate as PEM, got .*cert\.pem: /,
    ],
    [
      'the key of another certificate',
      keyOfOther,
      /^TLS_KEY: expected a file with the key of the certificate, not encrypted, as PEM, got .*key\.pem: /,
    ],
  ] as const) {
    it(`is refused with ${what}`, async (t) => {
      const files = await of(await selfSigned(t), await selfSigned(t));
      await assert.rejects(readFrom(t, files), { code: 'BAD_SETTINGS', message });
    });
  }
});
