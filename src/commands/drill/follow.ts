import { setTimeout as sleep } from 'node:timers/promises';
import { type DrillPhase, type Journal, MAX_SAMPLES, type Sample } from '../../operations/drills/journal.ts';
import { type AdminClient, AdminProblem, AdminUnreachable } from '../admin/client.ts';
import { elapsed, figure, milliseconds, percent, verdictWords } from '../admin/format.ts';
import { type Desk, operatorCommand, printable } from '../admin/operator-command.ts';
import { type Command, NotPassed } from '../command.ts';
import { journalText, markText } from './journal-text.ts';
import { whichDrill } from './list.ts';

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

/** The view of a running drill: one line is redrawn, and each event adds a line above it. */
export interface FollowView {
  /** With the samples and marks that are new. */
  readonly show: (journal: Journal) => void;
  readonly say: (text: string) => void;
  /** Leaves the terminal as it was found. */
  readonly finish: () => void;
}

export function createFollowView({ output, stderr }: Pick<Desk, 'output' | 'stderr'>, started: Journal): FollowView {
  let line = '';
  let said = '';
  const clear = output.watched ? '\r\u001b[K' : '';
  const draw = (): void => {
    if (!output.watched || line === '') return;
    // A line wider than the terminal would wrap and could not be drawn over.
    stderr.write(`${clear}${[...line].slice(0, Math.max(20, (stderr.columns || 80) - 1)).join('')}`);
  };
  const say = (text: string): void => {
    if (text === said) return;
    said = text;
    stderr.write(`${clear}${printable(text)}\n`);
    draw();
  };

  return {
    say,
    show: (journal) => {
      for (const mark of journal.marks) {
        output.event({ ...mark, kind: 'mark', mark: mark.kind });
        // A stage has a mark of its own; and where nobody watches, the lines of JSON say it.
        if ((mark.kind === 'phase' && mark.phase === 'stage') || !(output.watched || !output.json)) continue;
        say(`${elapsed(mark.atMs).padStart(9)}  ${markText(mark, started.plan)}`);
      }
      for (const sample of journal.samples) output.event({ kind: 'sample', ...sample });
      const latest = journal.samples.at(-1);
      if (latest !== undefined) line = printable(followLine(latest, journal));
      draw();
    },
    finish: () => {
      if (line !== '' && output.watched) stderr.write(clear);
      line = '';
    },
  };
}

const PHASES: Readonly<Record<DrillPhase, string>> = {
  baseline: 'baseline',
  stage: 'flushed',
  hold: 'on hold',
  recovery: 'recovering',
  after: 'restored',
};

/** The line that is drawn over and over: where the drill is, and what it does to the domain. */
export function followLine({ atMs, domain, phase, stage, figures, guards }: Sample, { plan }: Journal): string {
  const [control, ...cohorts] = figures.cohorts;
  const flushed = cohorts[stage]?.hitRatio;
  const broken = guards.filter((guard) => guard.broken).map((guard) => guard.figure);
  const place = phase === 'baseline' ? '' : ` stage ${stage + 1}/${plan.stages.length}`;
  const hits = [
    `hits ${percent(figures.hitRatio)}`,
    ...(flushed === undefined || phase === 'baseline' ? [] : [`flushed ${percent(flushed)}`]),
    ...(control?.hitRatio === undefined ? [] : [`control ${percent(control.hitRatio)}`]),
  ].join(', ');
  return [
    `${elapsed(atMs).padStart(9)}  ${domain}${place} ${PHASES[phase]}`,
    // First, as a narrow terminal cuts off the rest.
    ...(broken.length === 0 ? [] : [`BROKEN: ${broken.join(', ')}`]),
    hits,
    `engine ${figure(figures.engineCallsPerSecond)}/s, ${figures.engineInFlight} of ${figures.engineCeiling}`,
    `p99 ${milliseconds(figures.p99Ms)}`,
    ...(figures.shedRate ? [`shed ${percent(figures.shedRate)}`] : []),
    ...(figures.errorRate ? [`errors ${percent(figures.errorRate)}`] : []),
  ].join('  ');
}

export const watchDrill: Command = operatorCommand({
  name: 'drill watch',
  usage: '[id]',
  summary: 'follow a drill to its end; Ctrl-C leaves it running',
  options: [],
  takes: { min: 0, max: 1 },
  details: [
    'Exit status 0: it passed. 1: it failed. 2: not measured, aborted or lost. 3: refused, or the watching ended before it.',
  ],
  run: async (desk) => {
    const id = await whichDrill(desk.words.positionals[0], desk.client, 'running');
    const query = [['samples', String(MAX_SAMPLES)]] as const;
    const journal = await desk.client.get<Journal>(`/admin/drills/${encodeURIComponent(id)}`, { query });
    await followDrill(desk, journal, 'leave');
  },
});

/** Reads on in a journal that grows: what comes is the journal with the samples and marks that are new. */
export interface JournalReader {
  readonly next: () => Promise<Journal>;
}

const DEADLINE_MS = 5000;
/** After so many looks without a sample the places have changed: a long journal leaves out every second one. */
const MAX_EMPTY_LOOKS = 6;

export function createJournalReader(client: AdminClient, path: string): JournalReader {
  let read = 0;
  let marks = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  let emptyLooks = 0;

  return {
    next: async () => {
      const query = [['samples', String(read)]] as const;
      const journal = await client.get<Journal>(path, { query, deadlineMs: DEADLINE_MS, evenIfStopped: true });
      const samples = journal.samples.filter(({ atMs }) => atMs > lastMs);
      read += journal.samples.length;
      emptyLooks = samples.length === 0 ? emptyLooks + 1 : 0;
      if (emptyLooks >= MAX_EMPTY_LOOKS) {
        read = 0;
        emptyLooks = 0;
      }
      lastMs = samples.at(-1)?.atMs ?? lastMs;
      const fresh = journal.marks.slice(marks);
      marks = journal.marks.length;
      return { ...journal, samples, marks: fresh };
    },
  };
}
