import type { RunOptions } from './arguments.ts';

/** As a person would type it to repeat the run, whatever was said by variables. Never the token. */
export function commandLine(options: RunOptions): string {
  const { script, stack, baseUrls, adminUrls, queries, numbers, replicas, against, k6, keepStack, pin } = options;
  const isLocal = stack === 'local';
  const words: readonly (readonly [option: string, value: string | undefined])[] = [
    ['--stack', isLocal ? undefined : stack],
    ['--base-url', baseUrls.join(',') || undefined],
    ['--admin-url', adminUrls.join(',') || undefined],
    ['--queries', queries],
    ...Object.entries(numbers).map(([name, value]) => [`--${name}`, String(value)] as const),
    ['--replicas', isLocal && replicas > 1 ? String(replicas) : undefined],
    ['--against', against],
    ['--k6', k6],
  ];
  const given = words.flatMap(([option, value]) => (value === undefined ? [] : [option, quoted(value)]));
  const switches = [...(keepStack ? ['--keep-stack'] : []), ...(isLocal && pin ? ['--pin'] : [])];
  return ['npm run loadtest --', script, ...given, ...switches].join(' ');
}

function quoted(value: string): string {
  return /^[\w./:,@%+-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
