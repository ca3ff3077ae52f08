import type { Command, CommandGroup } from './command.ts';
import { watchDrill } from './drill/follow.ts';
import { abortDrill, drillStatus, listDrills, reportDrill } from './drill/list.ts';
import { listPlans, previewDrill, resumeDrill, runDrill } from './drill/run.ts';

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
