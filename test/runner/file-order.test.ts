import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LAST_FOLDERS, LONG_FOLDERS, orderFiles } from './file-order.ts';

const root = join(import.meta.dirname, '..', '..');
const files = globSync('test/**/*.test.ts', { cwd: root }).sort();

test('every file is run once, whatever the order', () => {
  assert.deepEqual(orderFiles(files).sort(), files);
  assert.deepEqual(orderFiles(['a.test.ts']), ['a.test.ts']);
});

test('the first file of each long folder starts before the second of any, and all other files start later', () => {
  const ordered = orderFiles(files);
  const first = ordered.slice(0, LONG_FOLDERS.length);
  assert.deepEqual(
    first.map((file) => LONG_FOLDERS.find((folder) => file.startsWith(`${folder}/`))),
    LONG_FOLDERS,
  );
});

test('the fault matrix starts when only short files are left', () => {
  const ordered = orderFiles(files);
  const matrix = ordered.findIndex((file) => file.startsWith('test/faults/'));
  assert.ok(matrix > 0 && matrix < ordered.length - 1);
  for (const file of ordered.slice(matrix))
    assert.ok(
      LAST_FOLDERS.some((folder) => file.startsWith(`${folder}/`)),
      file,
    );
});
