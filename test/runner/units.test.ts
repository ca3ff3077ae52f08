import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unitsOf } from './units.ts';

const room = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `test/${name}/${index}.test.ts`);

test('every file is run once, whatever its room and whatever it starts', () => {
  const files = [...room('http', 30), ...room('cache', 1), ...room('stores', 5), 'test/app.test.ts'];
  const units = unitsOf(files, (file) => file.startsWith('test/stores'));
  assert.deepEqual(units.flat().sort(), files.sort());
});

test('a file that starts programs has its own process, and starts before the others', () => {
  const units = unitsOf([...room('http', 2), ...room('stores', 2)], (file) => file.startsWith('test/stores'));
  assert.deepEqual(
    units.map((unit) => unit.length),
    [1, 1, 2],
  );
});

test('the files of a large room are divided evenly, and no process has those of two rooms', () => {
  const units = unitsOf([...room('http', 25), ...room('cache', 2)], () => false);
  assert.deepEqual(
    units.map((unit) => unit.length),
    [9, 9, 7, 2],
  );
  for (const unit of units) assert.equal(new Set(unit.map((file) => file.split('/')[1])).size, 1);
});
