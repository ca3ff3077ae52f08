import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { MAX_LINES, type Queries, readQueries } from '../../../src/commands/parity/queries.ts';
import { prepareSearch } from '../../../src/search/key.ts';
import { temporaryFolder } from '../../folder.ts';

const DOMAIN = { name: 'goods', attributes: [], context: [], answerProfile: 'test' };

describe('a file of queries', () => {
  const directory = temporaryFolder({ after });

  const open = async (file: string, maxQueries = 1000) => {
    const bad: string[] = [];
    const queries = await readQueries(file, {
      prepare: (text) => prepareSearch({ pairs: [['q', text]] }, [DOMAIN]),
      maxQueries,
      onLine: () => undefined,
      onBadLine: (message) => bad.push(message.replace(`${file}, `, '')),
      signal: new AbortController().signal,
    });
    return { ...queries, bad, asked: askedOf(queries) };
  };
  const read = (content: string | Buffer, { name = 'q.tsv', maxQueries = 1000 } = {}) => {
    writeFileSync(join(directory, name), content);
    return open(join(directory, name), maxQueries);
  };
  const askedOf = ({ chosen }: Queries) => chosen.map(({ prepared, weight }) => [prepared.request.text, weight]);

  it('has one query per line, with an optional count; blank lines are ignored', async () => {
    const { asked, lines, bad } = await read('\ufeffnotebook\t3\r\n\n  \t\nusb cable\t12.5\tany\tmore\nmouse\n');
    assert.deepEqual(asked, [
      ['usb cable', 12.5],
      ['notebook', 3],
      ['mouse', 1],
    ]);
    assert.deepEqual([lines, bad], [3, []]);
  });

  it('counts queries that share an answer as one', async () => {
    const { asked, lines, distinct } = await read('Ёлка\t2\nелка\t3\n  ЕЛКА \n');
    assert.deepEqual([asked, lines, distinct], [[['елка', 6]], 3, 1]);
  });

  it('is read packed', async () => {
    assert.deepEqual((await read(gzipSync('mouse\n'), { name: 'q.tsv.gz' })).asked, [['mouse', 1]]);
  });

  it('has its bad lines reported and left out', async () => {
    const long = 'a'.repeat(300);
    const bytes = Buffer.concat([
      Buffer.from(`query\tweight\nmouse\t0\nmouse\t-1\nmouse\t1e999\n${long}\n${long.repeat(40)}\n`),
      Buffer.from([0xff, 0x0a]),
      Buffer.from('mouse\n'),
    ]);
    const { asked, bad, badLines } = await read(bytes);
    assert.deepEqual(asked, [['mouse', 1]]);
    assert.deepEqual(bad, [
      'line 1: a count is a number above 0, not "weight"',
      'line 2: a count is a number above 0, not "0"',
      'line 3: a count is a number above 0, not "-1"',
      'line 4: a count is a number above 0, not "1e999"',
      'line 5: q must have at most 256 characters',
      'line 6: longer than 8192 bytes',
      'line 7: not UTF-8',
    ]);
    assert.equal(badLines, 7);
  });

  it('gives its heaviest queries when there are too many', async () => {
    const { asked, distinct, weight } = await read('a\t1\nb\t5\nc\t3\nd\t2\n', { maxQueries: 2 });
    assert.deepEqual(asked, [
      ['b', 5],
      ['c', 3],
    ]);
    assert.deepEqual([distinct, weight], [4, 11]);
  });

  it('gives a sample of equal weights that does not depend on their order', async () => {
    const words = Array.from({ length: 500 }, (_, at) => `word${String(at).padStart(3, '0')}`);
    const sorted = (await read(words.join('\n'), { maxQueries: 50 })).asked;
    const reversed = (await read(words.toReversed().join('\n'), { maxQueries: 50 })).asked;
    assert.deepEqual(sorted, reversed);
    const firstHalf = sorted.filter(([text]) => String(text) < 'word250').length;
    assert.ok(firstHalf > 10 && firstHalf < 40, `${firstHalf} of 50 are of the first half`);
  });

  it('is read up to a maximum number of lines', async () => {
    const { cut, lines } = await read(`mouse\n${'\n'.repeat(MAX_LINES - 2)}mouse\nmouse\n`);
    assert.deepEqual([cut, lines], [true, 2]);
    assert.equal((await read('mouse\n')).cut, false);
  });

  it('is an error without any query, or when it cannot be read', async () => {
    await assert.rejects(read('\n'), /holds no query/);
    await assert.rejects(read('mouse\n', { name: 'q.gz' }), /q\.gz cannot be read/);
    await assert.rejects(read(gzipSync('mouse\n'.repeat(1000)).subarray(0, 30), { name: 'q.gz' }), /cannot be read/);
    rmSync(join(directory, 'q.gz'));
    await assert.rejects(open(join(directory, 'q.gz')), /no such file/);
  });
});
