import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { heapSnapshot, type Memory } from '../../../../src/server/debug/heap-snapshot.ts';
import { Recordings } from '../../../../src/server/debug/recordings.ts';
import { objectsIn } from '../../../helpers/devtools-files.ts';
import { ask, errorOf, serve, silent } from '../serve.ts';

const enough = (): Memory => ({ used: 1, available: 1_000_000_000 });

const served = (t: TestContext, memory = enough): Promise<number> =>
  serve(t, [{ path: '/', methods: { GET: heapSnapshot(new Recordings(), memory, silent) } }]);

describe('/debug/heap-snapshot', () => {
  it('sends a file that Chrome DevTools open', async (t) => {
    class Needle {
      readonly inHay = true;
    }
    const needles = Array.from({ length: 7 }, () => new Needle());
    const { status, headers, body } = await ask(await served(t), '/');
    assert.equal(status, 200);
    assert.match(
      headers['content-disposition'] ?? '',
      /^attachment; filename="[\w.-]+-\d{4}-[\dTZ.-]+\.heapsnapshot"$/,
    );
    assert.equal(objectsIn(body).get('Needle'), needles.length);
  });

  it('is refused if memory may not suffice, with the memory expected and available', async (t) => {
    let available = 950_000_000;
    const port = await served(t, () => ({ used: 100_000_000, available }));
    const refused = await ask(port, '/');
    assert.equal(refused.status, 503);
    assert.equal(
      errorOf(refused),
      'not enough memory for a heap snapshot: expected 1000 MB to be available ' +
        '(10 times the used heap of 100 MB), got 950 MB',
    );
    available = 1_000_000_000;
    assert.equal((await ask(port, '/')).status, 200);
  });
});
