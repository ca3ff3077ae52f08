/**
 * `node loadtest/report/publish.ts <folder of a run>`: what loadtest/README.md shows of a run: prints its tables as
 * Markdown and writes its plots into loadtest/plots.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { judge } from '../judge/judge.ts';
import type { RunRecord } from '../record.ts';
import { readmeTables } from './readme-tables.ts';
import type { PlotName } from './run-plots.ts';
import { plotSvg } from './standalone.ts';

/** What a reader of the README asks of each script. */
const SHOWN: Readonly<Record<string, readonly PlotName[]>> = {
  'x-load': ['rate', 'latency', 'processors'],
  'flush-survival': ['outcomes', 'places', 'latency'],
};
const OTHERWISE: readonly PlotName[] = ['rate', 'latency'];

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('node loadtest/report/publish.ts <folder of a run>');
  process.exit(64);
}
const record: RunRecord = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
const judged = judge(record);
const { script } = record.summary;
const plots = join(import.meta.dirname, '..', 'plots');
mkdirSync(plots, { recursive: true });
for (const name of SHOWN[script] ?? OTHERWISE) {
  const svg = plotSvg({ record, judged }, name);
  if (svg !== undefined) writeFileSync(join(plots, `${script}-${name}.svg`), svg);
}
console.log(readmeTables(record, judged));
console.log(judged.binding.words);
