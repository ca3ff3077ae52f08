import type { CohortForecast } from '../operations/drills/cohorts.ts';
import type { DrillPreview, DrillRequest } from '../operations/drills/drills.ts';
import type { Journal } from '../operations/drills/journal.ts';
import type { Plan, PlanStage } from '../operations/drills/plan.ts';
import { describeFaults, readPlanFile } from '../operations/drills/plan-file.ts';
import { guardText, planDurationMs } from '../operations/drills/view.ts';
import { amountText, countText, durationText, percentText } from '../report/format.ts';
import type { DomainStatus } from '../search/status.ts';
import { type AdminClient, AdminProblem } from './admin-client.ts';
import { type ParsedArguments, readTextFile, UsageError } from './arguments.ts';
import type { Command, CommandGroup } from './command.ts';
import { followDrill, watchDrill } from './drill-follow.ts';
import { abortDrill, drillStatus, listDrills, reportDrill } from './drill-inspect.ts';
import { previewText } from './flush.ts';
import { type OperatorContext, operatorCommand } from './operator-command.ts';
import { columns, indented } from './terminal.ts';

const DOMAIN = { name: 'domain', takes: 'D', about: 'the domain; several with a plan over domains', repeats: true };
const DETACH = { name: 'detach', about: 'start the drill and do not follow it' };
const DETAILS = [
  'Ctrl-C while it runs aborts the drill and waits until the cache is restored; with --detach it goes on.',
  'Without a terminal, each event is one line of JSON: preview, started, mark, sample, over.',
  'Exit status 0: it passed. 1: it failed. 2: not measured, aborted or lost. 3: refused, or it could not be started.',
];

const runDrill: Command = operatorCommand({
  name: 'drill run',
  usage: '<plan|file.yaml> --domain D --reason TEXT [--detach] [--yes]',
  summary: 'show the dry run, ask, start the drill and follow it to its end',
  options: [DOMAIN, DETACH],
  takes: { min: 1, max: 1 },
  details: DETAILS,
  run: async (context) => {
    const { args, client, output } = context;
    const reason = context.reasonFor('a drill');
    const asks = context.asks();
    const request = await drillRequest(args, client);
    const preview = await client.post<DrillPreview>('/admin/drills/preview', request);
    output.event({ kind: 'preview', ...preview });
    if (asks || !output.json) output.remark(drillPreviewText(preview));
    const names = preview.domains.map(({ domain }) => domain).join(', ');
    await context.confirm(`Run ${preview.plan.name} on ${names}?`);
    context.signal.throwIfAborted();
    // From here on the answer must arrive: the id in it is needed to abort the drill.
    await begin(context, '/admin/drills', { ...request, reason });
  },
});

const resumeDrill: Command = operatorCommand({
  name: 'drill resume',
  usage: '<id> --reason TEXT [--detach] [--yes]',
  summary: 'resume a stopped drill from the stage that was not finished',
  options: [DETACH],
  takes: { min: 1, max: 1 },
  details: DETAILS,
  run: async (context) => {
    const [id = ''] = context.args.positionals;
    const reason = context.reasonFor('a drill');
    await context.confirm(`Go on with ${id}?`);
    await begin(context, `/admin/drills/${encodeURIComponent(id)}/resume`, { reason });
  },
});

async function begin(context: OperatorContext, path: string, body: unknown): Promise<void> {
  const journal = await context.client.post<Journal>(path, body, { evenIfStopped: true }).catch((error: unknown) => {
    // The service refused the drill before its start; otherwise the baseline finds the same fault.
    if (!(error instanceof AdminProblem) || error.code !== 'hypothesis-failed') throw error;
    throw new Error(`refused: ${error.message}`);
  });
  if (!context.args.has('detach')) return followDrill(context, journal, 'abort');
  context.output.result({ kind: 'started', journal }, () =>
    [
      `${journal.id} runs`,
      `watch it: serpcache drill watch ${journal.id}`,
      `end it: serpcache drill abort ${journal.id}`,
    ].join('\n'),
  );
}

const previewDrill: Command = operatorCommand({
  name: 'drill preview',
  usage: '<plan|file.yaml> [--domain D…]',
  summary: 'show what each stage would flush and cost, and do nothing',
  options: [DOMAIN],
  takes: { min: 1, max: 1 },
  run: async ({ args, client, output }) => {
    const found = await client.post<DrillPreview>('/admin/drills/preview', await drillRequest(args, client));
    output.result(found, () => drillPreviewText(found));
  },
});

function forecastCells({ share, searchesPerSecond, enoughMs }: CohortForecast, holdMs?: number): readonly string[] {
  const keys = `${percentText(share)} of the keys`;
  if (searchesPerSecond === undefined || enoughMs === undefined) return [keys, 'no searches of late'];
  const held = holdMs === undefined ? '' : `, ${countText((searchesPerSecond * holdMs) / 1000)} while it is held`;
  return [
    keys,
    `about ${amountText(searchesPerSecond)} searches/s${held}`,
    `tells something after ${durationText(enoughMs)}`,
  ];
}

/** The dry run of a whole drill: one line per stage, and the flush preview of the last (largest) stage in full. */
function drillPreviewText({ plan, domains, warnings }: DrillPreview): string {
  const lines = [`${plan.name}: ${plan.title}`];
  for (const { domain, stages, cohorts } of domains) {
    const took = durationText(planDurationMs(plan));
    lines.push(`${domain}: ${stages.map(({ title }) => title).join(' → ')}, at least ${took}`);
    const rows = cohorts.stages.map((one, i) => [`stage ${i + 1}`, ...forecastCells(one, plan.stages[i]?.holdMs)]);
    lines.push(indented(columns([['control', ...forecastCells(cohorts.control)], ...rows])));
    const last = stages.at(-1);
    if (last !== undefined) lines.push(previewText(domain, last.preview));
  }
  return [...lines, ...warnings.map((warning) => `! ${warning}`)].join('\n');
}

/** The plan (a ready-made one by name, or one in a file) and the domains of a drill. @throws UsageError */
async function drillRequest(args: ParsedArguments, client: AdminClient): Promise<DrillRequest> {
  const [word = ''] = args.positionals;
  const domains = args
    .texts('domain')
    .flatMap((text) => text.split(','))
    .filter((name) => name !== '');
  const plan = /[/\\]|\.ya?ml$/.test(word) ? await planInFile(word, domains, client) : word;
  return { plan, domains: domains.length === 0 ? undefined : domains };
}

async function planInFile(file: string, domains: readonly string[], client: AdminClient): Promise<Plan> {
  const text = readTextFile(file, `the plan ${file}`);
  const read = readPlanFile(text, /\beach\b/.test(text) ? await nodesOf(domains[0], client) : undefined);
  if (read.kind === 'plan') return read.plan;
  throw new UsageError(`${file} is not a plan:\n${describeFaults(read.faults)}`);
}

/** The number of nodes that the store has now: `node: each` in a plan becomes one stage per node. */
async function nodesOf(domain: string | undefined, client: AdminClient): Promise<number | undefined> {
  const { domains } = await client.get<{ domains: readonly DomainStatus[] }>('/admin/domains');
  return domains.find((each) => each.domain === domain)?.store?.nodes.length;
}

const listPlans: Command = operatorCommand({
  name: 'drill plans',
  usage: '',
  summary: 'the ready-made plans, with their stages and guards',
  run: async ({ client, output }) => {
    const found = await client.get<{ plans: readonly Plan[] }>('/admin/plans');
    output.result(found, () => found.plans.map(planText).join('\n\n'));
  },
});

function planText({ name, title, mode, baselineMs, holdout, stages, guards, recovery }: Plan): string {
  const rows = [
    ['baseline', durationText(baselineMs), `${percentText(holdout)} of the keys are never touched: the control cohort`],
    ...stages.map((stage, i) => [`stage ${i + 1}`, durationText(stage.holdMs), stageText(stage, mode)]),
    [
      'recovery',
      durationText(recovery.timeoutMs),
      `at most, until within ${recovery.withinPoints} points of its own past`,
    ],
  ];
  const rules = guards.map(({ figure, max, forMs, then }) => [
    'guard',
    `${figure} > ${guardText(figure, max)}`,
    `for ${durationText(forMs)}: ${then}`,
  ]);
  return `${name}: ${title}\n${indented(columns(rows))}\n${indented(columns(rules))}`;
}

function stageText(stage: PlanStage, mode: string): string {
  switch (stage.kind) {
    case 'fraction':
      return `${mode} ${percentText(stage.fraction)} of the keys`;
    case 'node':
      return `${mode} everything on node ${stage.node + 1}`;
    case 'blackout':
      return 'the engine is taken for dead';
  }
}

const PARTS: readonly Command[] = [
  listPlans,
  previewDrill,
  runDrill,
  drillStatus,
  watchDrill,
  listDrills,
  abortDrill,
  resumeDrill,
  reportDrill,
];

/** Deliberate cache losses: in stages, with guards, and reversible. */
export const drill: CommandGroup = {
  name: 'drill',
  usage: `${PARTS.map(({ name }) => name.replace('drill ', '')).join(' | ')} …`,
  summary: 'lose the cache on purpose, in stages, and restore it',
  parts: PARTS,
};
