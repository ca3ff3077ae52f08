import { setTimeout as sleep } from 'node:timers/promises';
import { type Journal, MAX_SAMPLES, type Sample } from '../operations/drills/journal.ts';
import { drillVerdictWord, markOf, PHASES } from '../operations/drills/view.ts';
import { amountText, durationText, percentText, stopwatchText } from '../report/format.ts';
import { type AdminClient, AdminProblem, AdminUnreachable } from './admin-client.ts';
import { type Command, NotPassed } from './command.ts';
import { journalText, whichDrill } from './drill-inspect.ts';
import { type OperatorContext, operatorCommand } from './operator-command.ts';
import { printable } from './terminal.ts';

const POLL_MS = 500;
/**
 * A restarted process answers again within this time. A process that is gone has lost the drill, and caches are
 * restored.
 */
const MAX_SILENCE_MS = 30_000;

/**
 * Shows a drill until it is over. When the signal aborts, it either aborts the drill and waits for the restored cache,
 * or leaves the drill running.
 * @throws NotPassed unless the drill passed.
 */
export async function followDrill(
  context: OperatorContext,
  started: Journal,
  ifStopped: 'abort' | 'leave',
): Promise<void> {
  const { client, output, clock, signal } = context;
  const path = `/admin/drills/${encodeURIComponent(started.id)}`;
  const readJournal = createJournalReader(client, path);
  const view = createDrillView(context, started);
  let aborted = false;
  let heardMs = clock.monotonicMs();

  const abort = async (): Promise<void> => {
    view.say('aborting the drill; the cache is being restored');
    try {
      await client.post(`${path}/abort`, { reason: 'stopped at the command line' }, { evenIfStopped: true });
      view.say('the cache is restored; waiting for the last figures (Ctrl-C again leaves at once)');
    } catch (error) {
      // Another operator has ended the drill meanwhile.
      if (!(error instanceof AdminProblem) || error.code !== 'drill-over') throw error;
    }
    aborted = true;
  };

  const step = async (): Promise<Journal | undefined> => {
    try {
      if (signal.aborted && !aborted) await abort();
      const journal = await readJournal();
      heardMs = clock.monotonicMs();
      return journal;
    } catch (error) {
      // The service may answer again soon. A drill that it no longer knows is over.
      const forMs = clock.monotonicMs() - heardMs;
      const isPassing = error instanceof AdminUnreachable || (error instanceof AdminProblem && error.status >= 500);
      if (!isPassing || forMs > MAX_SILENCE_MS) throw error;
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
      await sleep(POLL_MS, undefined, { signal: signal.aborted ? undefined : signal }).catch(() => undefined);
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
  const message = `${drillVerdictWord(kind)}: ${detail}`;
  // A refused drill has flushed nothing, so its status is `notDone`.
  throw kind === 'refused' ? new Error(message) : new NotPassed(message, kind === 'failed' ? 'failed' : 'undecided');
}

/** The view of a running drill: one line is redrawn, and each event adds a line above it. */
function createDrillView({ output, stderr }: Pick<OperatorContext, 'output' | 'stderr'>, started: Journal) {
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
    /** @param journal with new samples and marks only. */
    show: (journal: Journal): void => {
      for (const mark of journal.marks) {
        output.event({ ...mark, kind: 'mark', mark: mark.kind });
        // The `stage` mark already tells the start of a stage. Without a terminal, the JSON lines tell everything.
        if ((mark.kind === 'phase' && mark.phase === 'stage') || !(output.watched || !output.json)) continue;
        const { lead, text } = markOf(mark, started.plan);
        say(`${stopwatchText(mark.atMs).padStart(9)}  ${mark.domain}: ${lead}${text}`);
      }
      for (const sample of journal.samples) output.event({ kind: 'sample', ...sample });
      const latest = journal.samples.at(-1);
      if (latest !== undefined) line = printable(progressLine(latest, journal));
      draw();
    },
    /** Clears the line that is redrawn. */
    finish: (): void => {
      if (line !== '' && output.watched) stderr.write(clear);
      line = '';
    },
  };
}

/** The line that is redrawn: the state of the drill and the domain's figures. */
function progressLine({ atMs, domain, phase, stage, figures, guards }: Sample, { plan }: Journal): string {
  const [control, ...cohorts] = figures.cohorts;
  const flushed = cohorts[stage]?.hitRatio;
  const broken = guards.filter((guard) => guard.broken).map((guard) => guard.figure);
  const place = phase === 'baseline' ? '' : ` stage ${stage + 1}/${plan.stages.length}`;
  const hits = [
    `hits ${percentText(figures.hitRatio)}`,
    ...(flushed === undefined || phase === 'baseline' ? [] : [`flushed ${percentText(flushed)}`]),
    ...(control?.hitRatio === undefined ? [] : [`control ${percentText(control.hitRatio)}`]),
  ].join(', ');
  return [
    `${stopwatchText(atMs).padStart(9)}  ${domain}${place} ${PHASES[phase]}`,
    // Broken guards come first, because a narrow terminal cuts off the rest.
    ...(broken.length === 0 ? [] : [`BROKEN: ${broken.join(', ')}`]),
    hits,
    `engine ${amountText(figures.engineCallsPerSecond)}/s, ${figures.engineInFlight} of ${figures.engineCeiling}`,
    `p99 ${durationText(figures.p99Ms)}`,
    ...(figures.shedRate ? [`shed ${percentText(figures.shedRate)}`] : []),
    ...(figures.errorRate ? [`errors ${percentText(figures.errorRate)}`] : []),
  ].join('  ');
}

export const watchDrill: Command = operatorCommand({
  name: 'drill watch',
  usage: '[id]',
  summary: 'follow a drill to its end; Ctrl-C leaves it running',
  takes: { min: 0, max: 1 },
  details: [
    'Exit status 0: it passed. 1: it failed. 2: not measured, aborted or lost. 3: refused, or no longer followed.',
  ],
  run: async (context) => {
    const id = await whichDrill(context.args.positionals[0], context.client, 'running');
    const query = [['samples', MAX_SAMPLES]] as const;
    const journal = await context.client.get<Journal>(`/admin/drills/${encodeURIComponent(id)}`, { query });
    await followDrill(context, journal, 'leave');
  },
});

const DEADLINE_MS = 5000;
/**
 * After this number of polls without a new sample, all samples are read again: a long journal drops every second
 * sample, which renumbers the others.
 */
const MAX_EMPTY_POLLS = 6;

/** Reads a growing journal: each call returns it with new samples and marks only. */
function createJournalReader(client: AdminClient, path: string): () => Promise<Journal> {
  let read = 0;
  let marks = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  let emptyPolls = 0;

  return async () => {
    const query = [['samples', read]] as const;
    const journal = await client.get<Journal>(path, { query, deadlineMs: DEADLINE_MS, evenIfStopped: true });
    const samples = journal.samples.filter(({ atMs }) => atMs > lastMs);
    read += journal.samples.length;
    emptyPolls = samples.length === 0 ? emptyPolls + 1 : 0;
    if (emptyPolls >= MAX_EMPTY_POLLS) {
      read = 0;
      emptyPolls = 0;
    }
    lastMs = samples.at(-1)?.atMs ?? lastMs;
    const fresh = journal.marks.slice(marks);
    marks = journal.marks.length;
    return { ...journal, samples, marks: fresh };
  };
}
