import type { Program } from '../../../../src/commands/arguments.ts';
import type { Experiment } from '../experiment.ts';
import { columns } from './columns.ts';
import { OPTIONS } from './options.ts';

/** A command of the lab, for the person who types it. */
export interface Described {
  /** As npm knows it: `experiments`. */
  readonly program: string;
  readonly about: string;
  readonly experiments: Readonly<Record<string, Experiment>>;
  /** Names of those that take further servers. */
  readonly comparing: readonly string[];
}

/** How a command describes itself. */
export function described({ program, about, experiments, comparing }: Described): Omit<Program, 'takes'> {
  const names = Object.entries(experiments).map(([name, { varies }]) => [name, varies] as const);
  return {
    command: `npm run ${program} --`,
    usage: '<name…|all> [options]',
    about: [about, '', ...columns(names)],
    options: OPTIONS.filter(({ name }) => name !== 'server' || comparing.length > 0),
  };
}
