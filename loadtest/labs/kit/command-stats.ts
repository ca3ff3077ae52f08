import type { LabStore } from './lab.ts';

/** What a store says it spent on one kind of command since its statistics were reset: executing, without the socket. */
export interface CommandStats {
  readonly calls: number;
  readonly us: number;
}

/** Of `INFO commandstats`; nothing was called yet: zeros. @param name in lower case: `hgetall`. */
export async function commandStats(store: Pick<LabStore, 'info'>, name: string): Promise<CommandStats> {
  const text = (await store.info('commandstats'))[`cmdstat_${name}`] ?? '';
  return { calls: figure(text, 'calls'), us: figure(text, 'usec') };
}

function figure(text: string, name: string): number {
  return Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(text)?.[1] ?? 0);
}
