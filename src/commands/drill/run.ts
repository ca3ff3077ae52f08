import type { DrillPreview } from '../../drills/drills.ts';
import type { Journal } from '../../drills/journal.ts';
import { type Desk, operatorCommand } from '../admin/operator-command.ts';
import { AdminProblem } from '../admin/problem.ts';
import { UsageError } from '../arguments.ts';
import type { Command } from '../command.ts';
import { followDrill } from './follow.ts';
import { askedPlan } from './plan-word.ts';
import { drillPreviewText } from './preview.ts';

const DETACH = { name: 'detach', about: 'start it and go; it runs in the service either way' };
const DETAILS = [
  'Ctrl-C while it runs aborts the drill and waits until the cache is restored; with --detach it goes on.',
  'Elsewhere than on a terminal each thing that happens is one line of JSON: preview, started, mark, sample, over.',
  'Exit status 0: it passed. 1: it failed. 2: not measured, aborted or lost. 3: refused, or it could not be started.',
];

export const runDrill: Command = operatorCommand({
  name: 'drill run',
  usage: '<plan|file.yaml> --domain D --reason TEXT [--detach] [--yes]',
  summary: 'show the dry run, ask, start the drill and follow it to its end',
  options: [{ name: 'domain', takes: 'D', about: 'which; several with a plan over domains', repeats: true }, DETACH],
  takes: { min: 1, max: 1 },
  details: DETAILS,
  run: async (desk) => {
    const { words, client, output } = desk;
    const reason = reasonOf(desk);
    const asks = desk.asks();
    const asked = await askedPlan(words, client);
    const preview = await client.post<DrillPreview>('/admin/drills/preview', asked);
    output.event({ kind: 'preview', ...preview });
    if (asks || !output.json) output.remark(drillPreviewText(preview));
    const names = preview.domains.map(({ domain }) => domain).join(', ');
    await desk.confirm(`Run ${preview.plan.name} on ${names}?`);
    desk.signal.throwIfAborted();
    // From here on somebody has to know its id, so that it can be aborted.
    await begin(desk, '/admin/drills', { ...asked, reason });
  },
});

export const resumeDrill: Command = operatorCommand({
  name: 'drill resume',
  usage: '<id> --reason TEXT [--detach] [--yes]',
  summary: 'go on with a stopped drill, from the stage that was not finished',
  options: [DETACH],
  takes: { min: 1, max: 1 },
  details: DETAILS,
  run: async (desk) => {
    const [id = ''] = desk.words.positionals;
    const reason = reasonOf(desk);
    await desk.confirm(`Go on with ${id}?`);
    await begin(desk, `/admin/drills/${encodeURIComponent(id)}/resume`, { reason });
  },
});

async function begin(desk: Desk, path: string, body: unknown): Promise<void> {
  const journal = await desk.client.post<Journal>(path, body, { evenIfStopped: true }).catch((error: unknown) => {
    // The service found out before there was a drill what it otherwise finds out in the baseline.
    if (!(error instanceof AdminProblem) || error.code !== 'hypothesis-failed') throw error;
    throw new Error(`refused: ${error.message}`);
  });
  if (!desk.words.has('detach')) return followDrill(desk, journal, 'abort');
  desk.output.result({ kind: 'started', journal }, () =>
    [
      `${journal.id} runs`,
      `watch it: serpcache drill watch ${journal.id}`,
      `end it: serpcache drill abort ${journal.id}`,
    ].join('\n'),
  );
}

function reasonOf({ reason }: Desk): string {
  if (reason === undefined) throw new UsageError('a drill needs a reason: --reason TEXT');
  return reason;
}
