import { nearest } from '../config/suggest.ts';
import { type Command, UsageError } from './command.ts';
import { abortDrill } from './drill/abort.ts';
import { DRILL_EXIT_CODES } from './drill/exit-codes.ts';
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
].map((part) => ({ ...part, exitCodes: DRILL_EXIT_CODES }));

/** Cache losses on purpose: staged, guarded, taken back. */
export const drill: Command = {
  name: 'drill',
  usage: `${PARTS.map(({ name }) => name.replace('drill ', '')).join(' | ')} …`,
  summary: 'lose the cache on purpose, in stages, and get it back',
  parts: PARTS,
  exitCodes: DRILL_EXIT_CODES,
  run: async ([word]) => {
    const names = PARTS.map(({ name }) => name.replace('drill ', ''));
    if (word === undefined || word.startsWith('-')) throw new UsageError(`drill what? ${names.join(', ')}`);
    const near = nearest(word, names);
    throw new UsageError(
      `no drill command "${word}"; ${near === undefined ? `known: ${names.join(', ')}` : `did you mean ${near}?`}`,
    );
  },
};
