import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const src = join(import.meta.dirname, '..', 'src');
/** The tick object has five computed keys for V8: two ids, the context frame, the callback and its arguments. */
const KEYS = 5;

/**
 * V8's feedback for the keys of the tick object, after ticks, full garbage collections without a pending tick, and ticks.
 * MONOMORPHIC is fast; MEGAMORPHIC calls the runtime for each key.
 */
async function feedbackOf(options: { readonly ticks: number; readonly isKept: boolean }): Promise<readonly string[]> {
  const program = `
    const ticks = (n) => new Promise((end) => {
      const step = () => (--n > 0 ? process.nextTick(step) : end());
      process.nextTick(step);
    });
    await ticks(${options.ticks});
    for (let n = 0; n < 10; n += 1) {
      await new Promise((turn) => setTimeout(turn, 1));
      gc();
    }
    await ticks(1000);
    %DebugPrint(process.nextTick);`;
  const kept = options.isKept ? ['--import', join(src, 'tick-shape.ts')] : [];
  const natives = ['--expose-gc', '--allow-natives-syntax', '--input-type=module'];
  const { stdout } = await run(process.execPath, [...natives, ...kept, '--eval', program]);
  return [...stdout.matchAll(/slot #\d+ DefineKeyedOwnPropertyInLiteral (\w+)/g)].map(([, state = '']) => state);
}

for (const ticks of [1000, 30_000]) {
  test(`garbage collections do not slow process.nextTick down after ${ticks} calls`, async (context) => {
    const kept = await feedbackOf({ ticks, isKept: true });
    assert.deepEqual(kept, Array(KEYS).fill('MONOMORPHIC'));
    const lost = await feedbackOf({ ticks, isKept: false });
    assert.equal(lost.length, KEYS);
    // A newer V8 may hold the maps itself: then tick-shape.ts can be removed.
    context.diagnostic(`without a kept tick: ${lost.join(' ')}`);
  });
}

test('a tick object is kept, and no hook stays behind', async () => {
  const program = `
    import { keptTick } from '${join(src, 'tick-shape.ts')}';
    let hooked = 0;
    process.nextTick(() => (hooked += 1));
    await new Promise((turn) => setImmediate(turn));
    console.log(JSON.stringify([typeof keptTick?.callback, Object.getOwnPropertySymbols(keptTick).length, hooked]));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program]);
  assert.deepEqual(JSON.parse(stdout), ['function', 3, 1]);
});

test('main.ts keeps the tick object before it imports anything else', () => {
  const [first = ''] = /^import .*$/m.exec(readFileSync(join(src, 'main.ts'), 'utf8')) ?? [];
  assert.equal(first, "import './tick-shape.ts';");
});
