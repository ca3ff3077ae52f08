import { setTimeout as sleep } from 'node:timers/promises';
import type { Journal } from '../../drills/journal.ts';
import { verdictWords } from '../admin/format.ts';
import type { Desk } from '../admin/operator-command.ts';
import { AdminProblem, AdminUnreachable } from '../admin/problem.ts';
import { NotPassed } from '../command.ts';
import { createFollowView } from './follow-view.ts';
import { createJournalReader } from './journal-reader.ts';
import { journalText } from './journal-text.ts';

const LOOK_MS = 500;
/** A process that restarts is back by then; one that is gone has lost the drill, and every cache is restored. */
const PATIENCE_MS = 30_000;

/**
 * Shows a drill until it is over. Being told to stop either aborts it, and waits for the restored cache, or leaves it.
 * @throws NotPassed unless it passed.
 */
export async function followDrill(desk: Desk, started: Journal, ifStopped: 'abort' | 'leave'): Promise<void> {
  const { client, output, clock, signal } = desk;
  const path = `/admin/drills/${encodeURIComponent(started.id)}`;
  const reader = createJournalReader(client, path);
  const view = createFollowView(desk, started);
  let aborted = false;
  let heardMs = clock.monotonicMs();

  const abort = async (): Promise<void> => {
    view.say('aborting the drill; the cache is being restored');
    try {
      await client.post(`${path}/abort`, { reason: 'stopped at the command line' }, { evenIfStopped: true });
      view.say('the cache is restored; waiting for the last figures (Ctrl-C again leaves at once)');
    } catch (error) {
      // Somebody else has ended it meanwhile.
      if (!(error instanceof AdminProblem) || error.code !== 'drill-over') throw error;
    }
    aborted = true;
  };

  const step = async (): Promise<Journal | undefined> => {
    try {
      if (signal.aborted && !aborted) await abort();
      const journal = await reader.next();
      heardMs = clock.monotonicMs();
      return journal;
    } catch (error) {
      // The service may answer in a moment; a drill that it does not know any more is over.
      const forMs = clock.monotonicMs() - heardMs;
      const isPassing = error instanceof AdminUnreachable || (error instanceof AdminProblem && error.status >= 500);
      if (!isPassing || forMs > PATIENCE_MS) throw error;
      view.say(`${error.message}; a drill whose process is gone ends by itself`);
      return undefined;
    }
  };

  const follow = async (): Promise<Journal> => {
    output.event({ kind: 'started', journal: { ...started, samples: [] } });
    for (;;) {
      if (signal.aborted && ifStopped === 'leave') {
        view.say(`${started.id} goes on; end it: serpcache drill abort ${started.id}`);
        signal.throwIfAborted();
      }
      const journal = await step();
      if (journal !== undefined) view.show(journal);
      if (journal?.state.kind === 'over') return journal;
      await sleep(LOOK_MS, undefined, signal.aborted ? {} : { signal }).catch(() => undefined);
    }
  };

  const journal = await follow()
    .catch((error: unknown) => {
      const isLost = error instanceof AdminUnreachable || (error instanceof AdminProblem && error.status === 404);
      if (!isLost) throw error;
      output.event({ kind: 'lost', id: started.id, detail: error.message });
      throw new NotPassed(`${started.id} is lost: ${error.message}; every process ends it by itself`, 'undecided');
    })
    .finally(view.finish);
  output.event({ kind: 'over', journal: { ...journal, samples: [] } });
  if (!output.json) output.result(journal, () => journalText(journal));
  const { kind = 'over', detail = 'without a verdict' } = journal.verdict ?? {};
  if (kind === 'passed') return;
  const words = `${verdictWords(kind)}: ${detail}`;
  // A refused drill flushed nothing.
  throw kind === 'refused' ? new Error(words) : new NotPassed(words, kind === 'failed' ? 'failed' : 'undecided');
}
