import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { cannotBegin } from '../../../../loadtest/labs/kit/command.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { processorsHere } from '../../../../loadtest/stack/processors.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'serpcache-begin-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a page that could not be published is reported before anything is measured, if publishing is requested', async () => {
  const page = join(folder, 'README.md');
  writeFileSync(page, '# nothing\n');
  const wish = { names: ['batch'], out: folder };
  assert.match((await cannotBegin(page, { ...wish, isPublished: true })) ?? '', /^--publish: README\.md lacks a line/);
  assert.equal(await cannotBegin(page, { ...wish, isPublished: false }), undefined);
});

test('a resource that becomes ready only after the stop is also released', async () => {
  const stopping = new AbortController();
  let isStopped = false;
  const ready = Promise.withResolvers<void>();
  let late: Promise<void> | undefined;
  const running = inLab({ cores: coresOf(processorsHere()), say: () => undefined, signal: stopping.signal }, (lab) => {
    late = ready.promise.then(() => {
      lab.atEnd(async () => {
        isStopped = true;
      });
    });
    stopping.abort();
    return late;
  });
  await assert.rejects(running, /stopped/);
  assert.equal(isStopped, false);
  ready.resolve();
  await late;
  assert.equal(isStopped, true);
});
