import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminClient } from '../../src/commands/admin-client.ts';
import type { Journal } from '../../src/operations/drills/journal.ts';
import type { RunEvent } from '../judge/record.ts';
import { operatorAt } from '../stack/service.ts';

interface JournalsWanted {
  readonly events: readonly RunEvent[];
  /** Only the process that ran the drill has its journal, so each is asked. */
  readonly adminUrls: readonly string[];
  readonly adminToken?: string;
  readonly folder: string;
  readonly say: (text: string) => void;
  /** A drill takes its last samples after the load has ended. */
  readonly waitMs?: number;
}

const WAIT_MS = 30_000;
const POLL_MS = 500;
const ANSWER_MS = 10_000;
const MAX_DRILLS = 20;
/** Samples from the millionth on, which is none: a poll for the state need not carry megabytes. */
const WITHOUT_SAMPLES = [['samples', '1000000']] as const;
/** The form of the service's ids: an id becomes a file name here. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Writes `drill-<id>.json` and the drill's own report beside it. A missing one is reported and left out. */
export async function keepJournals(wanted: JournalsWanted): Promise<void> {
  const { events, adminUrls, adminToken, folder, say, waitMs = WAIT_MS } = wanted;
  const ids = [...new Set(events.flatMap(({ drill }) => (drill !== undefined && ID.test(drill) ? [drill] : [])))];
  const clients = adminUrls.map((url) => operatorAt(url, adminToken, 'loadtest'));
  const untilMs = performance.now() + waitMs;
  for (const id of ids.slice(0, MAX_DRILLS)) {
    const found = await ownerOf(clients, id, untilMs);
    if (found === undefined) {
      say(`no process gives the journal of drill ${id}`);
      continue;
    }
    await writeFile(join(folder, `drill-${id}.json`), JSON.stringify(found.journal));
    try {
      await writeFile(join(folder, `drill-${id}.html`), await found.client.page(`/admin/drills/${id}/report`));
    } catch (error) {
      say(`no report of drill ${id}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

/** The process that has the journal: returned when the drill is over, or when the waiting time is. */
async function ownerOf(clients: readonly AdminClient[], id: string, untilMs: number) {
  for (const client of clients) {
    const look = (query: readonly (readonly [string, string])[]): Promise<Journal | undefined> =>
      client.get<Journal>(`/admin/drills/${id}`, { query, deadlineMs: ANSWER_MS }).catch(() => undefined);
    for (;;) {
      const journal = await look(WITHOUT_SAMPLES);
      if (journal === undefined) break;
      if (journal.state.kind !== 'over' && performance.now() < untilMs) {
        await sleep(POLL_MS);
        continue;
      }
      return { client, journal: (await look([])) ?? journal };
    }
  }
  return undefined;
}
