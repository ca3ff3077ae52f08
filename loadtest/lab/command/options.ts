import type { OptionEntry } from '../../run/options.ts';

export const SECONDS = { least: 0.1, most: 60 } as const;

export const OPTIONS: readonly OptionEntry[] = [
  {
    name: 'seconds',
    value: 'n',
    help: `measure each row so long, ${SECONDS.least} to ${SECONDS.most}; else as long as it needs`,
  },
  { name: 'server', value: 'path,…', help: 'further Redis-protocol servers to compare' },
  { name: 'out', value: 'folder', help: 'where tables and plots are kept (loadtest/results)' },
  { name: 'publish', help: 'show the results on the page that stands beside the code' },
  { name: 'help', help: 'this text' },
];
