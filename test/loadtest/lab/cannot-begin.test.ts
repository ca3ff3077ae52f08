import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { cannotBegin } from '../../../loadtest/lab/command/cannot-begin.ts';
import { coresOf } from '../../../loadtest/lab/cores.ts';
import { inLab } from '../../../loadtest/lab/lab.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'serpcache-begin-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('results that could not be kept are told before anything is measured, and looking leaves nothing', async () => {
  const wish = { names: ['batch'], isPublished: false };
  assert.equal(await cannotBegin('', { ...wish, out: join(folder, 'new') }), undefined);
  assert.deepEqual(readdirSync(join(folder, 'new')), []);
  writeFileSync(join(folder, 'file'), '');
  const refused = await cannotBegin('', { ...wish, out: join(folder, 'file') });
  assert.match(refused ?? '', /^--out .*file cannot be written: EEXIST/);
});

test('a page that could not be published is told before anything is measured, where it is asked for', async () => {
  const page = join(folder, 'README.md');
  writeFileSync(page, '# nothing\n');
  const wish = { names: ['batch'], out: folder };
  assert.match((await cannotBegin(page, { ...wish, isPublished: true })) ?? '', /^--publish: README\.md lacks a line/);
  assert.equal(await cannotBegin(page, { ...wish, isPublished: false }), undefined);
});

test('what is ready only after all was stopped is ended too', async () => {
  const stopping = new AbortController();
  let isStopped = false;
  let late: Promise<void> | undefined;
  const running = inLab({ cores: coresOf('0-1'), say: () => undefined, signal: stopping.signal }, (lab) => {
    late = new Promise((resolve) => {
      setTimeout(() => {
        lab.atEnd(async () => {
          isStopped = true;
        });
        resolve();
      }, 100);
    });
    stopping.abort();
    return late;
  });
  await assert.rejects(running, /stopped/);
  assert.equal(isStopped, false);
  await late;
  assert.equal(isStopped, true);
});
