import { createProgress } from '../../catalogue/progress.ts';
import type { Erasure } from '../../flush/flush.ts';
import { columns, indented } from './columns.ts';
import { duration, grouped } from './format.ts';
import type { Desk } from './operator-command.ts';
import { pause } from './pause.ts';

const LOOK_MS = 500;

/** Waits until the erasure of a domain is over, with progress. Who stops waiting leaves it running. */
export async function followErasure(
  { client, stderr, clock, signal }: Desk,
  domain: string,
  first: Erasure | undefined,
): Promise<Erasure | undefined> {
  if (first?.state !== 'running') return first;
  const progress = createProgress({ label: `erasing ${domain}`, unit: 'keys', output: stderr, clock });
  let erasure: Erasure | undefined = first;
  try {
    while (erasure?.state === 'running') {
      progress.update(erasure.nodes.reduce((sum, { removed }) => sum + removed, 0));
      await pause(LOOK_MS, signal);
      const query = [['domain', domain]] as const;
      erasure = (await client.get<{ erasure?: Erasure }>('/admin/flush', { query })).erasure;
    }
  } catch (error) {
    if (signal.aborted) progress.note('the erasure goes on without this command');
    throw error;
  } finally {
    progress.finish();
  }
  return erasure;
}

export function erasureText({ nodes, seconds, state }: Erasure): string {
  const rows = nodes.map(({ node, by, state: each, removed, detail = '' }) => [
    node,
    by,
    each,
    `${grouped(removed)} keys`,
    detail,
  ]);
  return `erasure ${state} after ${duration(seconds * 1000)}\n${indented(columns(rows))}`;
}
