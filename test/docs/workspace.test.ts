import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { Terminal } from './terminal.ts';
import { Workspace } from './workspace.ts';

test('commands of a page run without the start-up files of the user’s shell', async (t) => {
  const home = await temporaryFolder(t);
  await writeFile(path.join(home, '.bashrc'), 'echo "of .bashrc"; exit 1');
  const terminal = new Terminal(await Workspace.create(t, { HOME: home }));

  await terminal.run('echo "of the page"');

  assert.equal(terminal.unread, 'of the page');
});
