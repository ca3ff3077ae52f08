import { isDisturbed } from './lesson.ts';
import type { DnsRow } from './row.ts';

/** A row that something else disturbed is measured once more, and no more often: it counts as it is then. */
export async function calmRow(measure: () => Promise<DnsRow>, say: (text: string) => void): Promise<DnsRow> {
  const row = await measure();
  if (!isDisturbed(row)) return row;
  say(`${row.variant.name} again: it was disturbed while nothing was cut and no name asked for`);
  return measure();
}
