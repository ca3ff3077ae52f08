import type { Option } from '../../../../src/commands/arguments.ts';

export const SECONDS = { least: 0.1, most: 60 } as const;

export const OPTIONS: readonly Option[] = [
  {
    name: 'seconds',
    takes: 'n',
    about: `measure each row so long, ${SECONDS.least} to ${SECONDS.most}; else as long as it needs`,
  },
  { name: 'server', takes: 'path,…', about: 'further Redis-protocol servers to compare' },
  { name: 'out', takes: 'folder', about: 'where tables and plots are kept (loadtest/results)' },
  { name: 'publish', about: 'show the results on the page that stands beside the code' },
];
