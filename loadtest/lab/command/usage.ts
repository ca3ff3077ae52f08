import { columns } from '../../run/columns.ts';
import type { LabCommand } from './lab-command.ts';
import { OPTIONS } from './options.ts';

/** What a command says of itself. */
export function usage({
  program,
  about,
  experiments,
  comparing,
}: Pick<LabCommand, 'program' | 'about' | 'experiments' | 'comparing'>): string {
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
