import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { drivenBy } from '../../../../loadtest/labs/kit/driven.ts';
import { coresOf, inLab } from '../../../../loadtest/labs/kit/lab.ts';
import { processorsHere } from '../../../../loadtest/stack/processors.ts';

const options = { cores: coresOf(processorsHere()), say: () => undefined, signal: new AbortController().signal };

/** A driver that prints the text it is given. */
const drivenWith = (driven: { watchedCores: readonly number[]; processorSeconds: number; seconds: number }) =>
  inLab(options, (lab) => {
    const main = join(lab.folder, 'prints.mjs');
    writeFileSync(main, `console.log(${JSON.stringify(JSON.stringify(driven))});`);
    return drivenBy(lab, { main, plan: {}, limitMs: 120_000 });
  });

test('the store cores of a load are those of the busiest store: three stores at half a core are no limit', async () => {
  const halves = await drivenWith({ watchedCores: [0.4, 0.5, 0.3], processorSeconds: 1, seconds: 2 });
  assert.deepEqual([halves.storeCores, halves.generatorCores, halves.limit], [0.5, 0.5, 'neither']);
  const oneFull = await drivenWith({ watchedCores: [0.1, 0.95], processorSeconds: 1, seconds: 2 });
  assert.deepEqual([oneFull.storeCores, oneFull.limit], [0.95, 'store']);
});
