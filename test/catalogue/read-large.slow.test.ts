import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readCatalogue } from '../../src/catalogue/read.ts';
import type { Document } from '../../src/search/domain.ts';
import { corpora, evenly } from '../corpus.ts';
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
  it('of 50 MB of NDJSON is read with a heap of 24 MB', async () => {
    const description = 'слово '.repeat(85);
    const rows = Array.from(
      { length: ROWS },
      (_, n) => `{"id":"${n}","title":"t${n}","description":"${description}"}\n`,
    );
    await writeFile(files.path('large.ndjson.gz'), gzipSync(rows.join(''), { level: 1 }));
    assert.equal(await readInSmallHeap(files.path('large.ndjson.gz')), String(ROWS));
  });

  it('of 50 MB of CSV is read with a heap of 24 MB', async () => {
    const description = 'слово '.repeat(85);
    const rows = Array.from({ length: ROWS }, (_, n) => `${n},t${n},"${description}"\n`);
    await writeFile(files.path('large.csv.gz'), gzipSync(`id,title,description\n${rows.join('')}`, { level: 1 }));
    assert.equal(await readInSmallHeap(files.path('large.csv.gz')), String(ROWS));
  });

  it('of one endless line is refused with a heap of 24 MB', async () => {
    const endless = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x'), { level: 1 });
    await writeFile(files.path('endless.ndjson.gz'), endless);
    await writeFile(files.path('endless.csv.gz'), endless);
    assert.match(await readInSmallHeap(files.path('endless.ndjson.gz')), /line 1: longer than 1048576 bytes/);
    assert.match(await readInSmallHeap(files.path('endless.csv.gz')), /line 1: the row is longer than 1048576 bytes/);
  });

  it('is closed when its reader stops early', async () => {
    await writeFile(files.path('early.ndjson'), '{"id":"1","title":"a"}\n'.repeat(ROWS));
    for await (const { id } of readCatalogue(files.path('early.ndjson'), { attributes: [] })) {
      assert.equal(id, '1');
      break;
    }
  });
});

for (const corpus of corpora()) {
  describe(`${corpus.name}: every row is read unchanged`, () => {
    const names = ['id', 'title', 'description', ...corpus.attributes.map(({ name }) => name)];
    /** Spaces around a title do not belong to it; some of the texts hold HTML. */
    const isRead = async (file: string, expected: readonly Document[]): Promise<void> => {
      let row = 0;
      for await (const document of readCatalogue(file, { attributes: corpus.attributes, form: { raw: names } })) {
        const wanted = expected[row];
        assert.deepEqual(document, { ...wanted, title: wanted?.title.trim() });
        row += 1;
      }
      assert.equal(row, expected.length);
    };
    const write = (name: string, lines: readonly string[]): Promise<void> =>
      writeFile(files.path(name), gzipSync(lines.join('\n'), { level: 1 }));

    it('as NDJSON and as CSV', async () => {
      const documents = evenly(await corpus.documents(), 3000);
      const rows = documents.map(({ attributes: values, ...text }) => ({ ...text, ...values }));
      await write(
        'corpus.ndjson.gz',
        rows.map((row) => JSON.stringify(row)),
      );
      await isRead(files.path('corpus.ndjson.gz'), documents);
      const cells = rows.map((row: Readonly<Record<string, string | number>>) =>
        names.map((name) => `"${String(row[name] ?? '').replaceAll('"', '""')}"`).join(','),
      );
      await write('corpus.csv.gz', [names.join(','), ...cells]);
      await isRead(files.path('corpus.csv.gz'), documents);
    });

    if (corpus.file !== undefined) {
      const { file } = corpus;
      it('from its own file', async () => isRead(file, await corpus.documents()));
    }
  });
}
