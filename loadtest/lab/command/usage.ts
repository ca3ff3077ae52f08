import { columns } from '../../run/columns.ts';
import type { Experiment } from '../experiment.ts';
import { OPTIONS } from './options.ts';

/** What a command is, for whoever types it. */
export interface Described {
  /** As npm knows it: `experiments`. */
  readonly program: string;
  readonly about: string;
  readonly experiments: Readonly<Record<string, Experiment>>;
  /** Names of those that take further servers. */
  readonly comparing: readonly string[];
}

/** What a command says of itself. */
export function usage({ program, about, experiments, comparing }: Described): string {
  const options = OPTIONS.filter(({ name }) => name !== 'server' || comparing.length > 0);
  const names = Object.entries(experiments).map(([name, { varies }]) => [name, varies] as const);
  return [
    `npm run ${program} -- <name…|all> [options]`,
    about,
    '',
    ...columns(names),
    '',
    ...columns(options.map(({ name, value, help }) => [`--${name}${value === undefined ? '' : ` ${value}`}`, help])),
    '',
    'Exit status: 0 every row was measured, 1 something was not, 64 wrong arguments.',
  ].join('\n');
}
