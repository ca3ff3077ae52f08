import type { Command, CommandGroup } from './command.ts';
import { abortDrill } from './drill/abort.ts';
import { listDrills } from './drill/list.ts';
import { listPlans } from './drill/plans.ts';
import { previewDrill } from './drill/preview.ts';
import { reportDrill } from './drill/report.ts';
import { resumeDrill, runDrill } from './drill/run.ts';
import { drillStatus } from './drill/status.ts';
import { watchDrill } from './drill/watch.ts';

const PARTS: readonly Command[] = [
  listPlans,
  previewDrill,
  runDrill,
  drillStatus,
  watchDrill,
  listDrills,
  abortDrill,
  resumeDrill,
  reportDrill,
];

/** Cache losses on purpose: staged, guarded, taken back. */
export const drill: CommandGroup = {
  name: 'drill',
  usage: `${PARTS.map(({ name }) => name.replace('drill ', '')).join(' | ')} …`,
  summary: 'lose the cache on purpose, in stages, and get it back',
  parts: PARTS,
};
