import { columns } from './columns.ts';
import { OPTIONS } from './options.ts';
import { SCRIPTS } from './scripts.ts';

/** What `npm run loadtest` says of itself. */
export function usage(): string {
  const scripts = Object.entries(SCRIPTS).map(([name, { purpose }]) => [name, purpose] as const);
  const options = OPTIONS.map(({ name, value, variable, help }) => {
    const left = `--${name}${value === undefined ? '' : ` ${value}`}`;
    return [left, variable === undefined ? help : `${help} (${variable})`] as const;
  });
  return [
    'npm run loadtest -- <script> [options]',
    '',
    ...columns(scripts),
    '',
    ...columns(options),
    '',
    'The variables in brackets say the same; ADMIN_TOKEN is only taken from there. Each run leaves a folder with',
    'report.html and run.json.',
    'Exit status: 0 passed, 1 failed, 2 invalid (the run says nothing), 3 could not be run, 64 wrong arguments.',
  ].join('\n');
}
