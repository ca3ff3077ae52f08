import type { Program } from '../../src/commands/arguments.ts';
import { columns } from '../labs/kit/arguments.ts';
import { OPTIONS } from './options.ts';
import { SCRIPTS } from './scripts.ts';

/** How `npm run loadtest` describes itself. */
export const LOADTEST: Omit<Program, 'takes'> = {
  command: 'npm run loadtest --',
  usage: '<script> [options]',
  about: [
    '',
    ...columns(Object.entries(SCRIPTS).map(([name, { purpose }]) => [name, purpose] as const)),
    '',
    'The variables in brackets say the same; ADMIN_TOKEN is only taken from there. Each run leaves a folder with',
    'report.html and run.json. A run whose generator spoiled it is undecided.',
  ],
  options: OPTIONS,
};
