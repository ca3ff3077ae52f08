import type { DrillSummary } from '../../drills/drills.ts';
import type { AdminClient } from '../admin/client.ts';
import { UsageError } from '../arguments.ts';

/** The drill named; without a name the one that runs or, where that will do, the latest. @throws UsageError */
export async function whichDrill(
  given: string | undefined,
  client: AdminClient,
  among: 'running' | 'latest',
): Promise<string> {
  if (given !== undefined) return given;
  const { drills } = await client.get<{ drills: readonly DrillSummary[] }>('/admin/drills');
  const running = drills.filter((drill) => drill.running || drill.ending !== undefined);
  if (running.length > 1) throw new UsageError(`which? running are ${running.map(({ id }) => id).join(', ')}`);
  const found = running[0] ?? (among === 'latest' ? drills[0] : undefined);
  if (found !== undefined) return found.id;
  throw new Error(among === 'running' ? 'no drill runs now' : 'there was no drill yet');
}
