/**
 * `npm run faults`: every fault of the matrix in turn, on real servers. Exit status 1 when a promise is broken.
 *   --only a,b      rows, families or figures by name     --list    what there is
 *   --repeat n      the whole selection n times           --seed n  of the stream
 *   --json file     everything measured                   --checkout dir   test another checkout of serpcache
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runMatrix } from './matrix.ts';
import { FAMILIES, FIGURES, select } from './registry.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repeat: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
    checkout: { type: 'string', default: join(import.meta.dirname, '..', '..') },
    list: { type: 'boolean', default: false },
  },
});

// Told to end, the servers it started end with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

if (values.list) {
  for (const [family, rows] of Object.entries(FAMILIES)) {
    console.log(family);
    for (const { name, says } of rows) console.log(`  ${name.padEnd(22)} ${says}`);
  }
  console.log('figures');
  for (const { name, says } of FIGURES) console.log(`  ${name.padEnd(22)} ${says}`);
} else {
  const held = await runMatrix(select(values.only.split(',').filter((name) => name !== '')), {
    checkout: resolve(values.checkout),
    repeat: Number(values.repeat),
    seed: Number(values.seed),
    print: console.log,
    ...(values.json === undefined ? {} : { jsonFile: resolve(values.json) }),
  });
  process.exitCode = held ? 0 : 1;
}
