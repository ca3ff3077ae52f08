import { driven, type LabDriven } from '../../kit/driven.ts';
import type { Lab, LabStore } from '../../kit/lab.ts';
import { DRIVEN_PAGE, PAGES } from './pages.ts';
import { BATCHES } from './sweep.ts';

/** Batches as a client in one Node process sees them: until the last byte of each reply. */
export interface ClientView extends LabDriven {
  readonly pipeline: number;
}

export const VIEW_CONNECTIONS = 10;

/** Closed loop, pages at random. @throws when replies are missing or refused: then no batch was measured. */
export async function clientViews(lab: Lab, store: LabStore, seconds: number): Promise<readonly ClientView[]> {
  const rows: ClientView[] = [];
  for (const pipeline of BATCHES) {
    lab.say(`a Node client with ${VIEW_CONNECTIONS} connections, ${pipeline} commands at once`);
    const commands = { kind: 'fixed', words: ['GET', DRIVEN_PAGE], keys: PAGES } as const;
    const ran = await driven(lab, [store], { connections: VIEW_CONNECTIONS, pipeline, seconds, commands });
    // Whole batches were left when the time was over: the store is through with them before the next row.
    await store.command('PING');
    const { refused, broken } = ran.errors;
    if (refused + broken > 0) throw new Error(`${refused} of the reads were refused and ${broken} lost`);
    rows.push({ pipeline, ...ran });
  }
  return rows;
}
