import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { catalogueFiles } from './harness.ts';

const files = catalogueFiles();
const READER = new URL('../../src/catalogue/read.ts', import.meta.url).href;
const ROWS = 50_000;
/** Half of the size of the text; Node itself needs most of it. */
const HEAP_MB = 24;

/**
 * Reads a catalogue in a process with a heap of half its size. The process ends itself: with its heap at the limit, Node
 * 26.12 was seen waiting for its own threads for ever at the end.
 * @returns the number of rows, or the message of the error.
 */
async function readInSmallHeap(file: string): Promise<string> {
  const script = `
    import { writeSync } from 'node:fs';
    import { readCatalogue } from ${JSON.stringify(READER)};
    let rows = 0;
    try {
      for await (const document of readCatalogue(${JSON.stringify(file)}, { attributes: [] })) rows += document.id ? 1 : 0;
      writeSync(1, String(rows));
    } catch (error) {
      writeSync(1, error.message);
    }
    process.kill(process.pid, 'SIGKILL');
  `;
  const parameters = [`--max-old-space-size=${HEAP_MB}`, '--input-type=module', '--eval', script];
  return new Promise((resolve) => {
    execFile(process.execPath, parameters, (_killed, stdout, stderr) => resolve(stdout || stderr));
  });
}

describe('a large catalogue', () => {
  const description = 'слово '.repeat(85);
  for (const [name, header, rowOf] of [
    ['large.ndjson.gz', '', (n: number) => `{"id":"${n}","title":"t${n}","description":"${description}"}\n`],
    ['large.csv.gz', 'id,title,description\n', (n: number) => `${n},t${n},"${description}"\n`],
  ] as const) {
    it(`of 50 MB, ${name}, is read with a heap of 24 MB`, async () => {
      const rows = Array.from({ length: ROWS }, (_, n) => rowOf(n));
      await writeFile(files.path(name), gzipSync(`${header}${rows.join('')}`, { level: 1 }));
      assert.equal(await readInSmallHeap(files.path(name)), String(ROWS));
    });
  }

  it('of one endless line is refused with a heap of 24 MB', async () => {
    const endless = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x'), { level: 1 });
    await writeFile(files.path('endless.ndjson.gz'), endless);
    await writeFile(files.path('endless.csv.gz'), endless);
    assert.match(await readInSmallHeap(files.path('endless.ndjson.gz')), /line 1: longer than 1048576 bytes/);
    assert.match(await readInSmallHeap(files.path('endless.csv.gz')), /line 1: the row is longer than 1048576 bytes/);
  });
});
