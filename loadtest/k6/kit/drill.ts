import { sleep } from 'k6';
import exec from 'k6/execution';
import { type Admin, abortDrill, createAdmin, listOf, memberOf, readDrill, runMark, textsOf } from './admin.ts';
import {
  codeOfEnd,
  type DrillEnd,
  type DrillJournal,
  type DrillPlan,
  type DrillWindow,
  drillWindows,
  fitPlan,
  withSheds,
} from './drill-plan.ts';
import { numberOf } from './environment.ts';
import { say } from './event.ts';
import { drillEnd } from './metrics.ts';
import type { RunContext, ScriptPlan } from './script.ts';
import { holdOf } from './step.ts';

const POLL_SECONDS = 1;
/** Share of the searches: a service that refuses more than half did not survive. */
const MAX_SHED = 0.5;
const NO_DOMAIN = 'no domain is known; DOMAIN names one';

/**
 * The common part of the scripts that lose the cache in a drill.
 * @param readyPlan the plan if PLAN names no other.
 */
export function drilled(
  script: string,
  readyPlan: string,
): Pick<ScriptPlan, 'name' | 'slowSeconds' | 'prepare' | 'operator' | 'teardown'> {
  const planName = __ENV['PLAN'] || readyPlan;
  return {
    name: script,
    // A little more than the patience.
    slowSeconds: 2.2,
    prepare: (run) => checkDrillable(run, planName),
    operator: (run) => runDrills(run, script, planName),
    teardown: abortOwnDrills,
  };
}

/** Ends the run before anything is sent if no drill could begin. */
function checkDrillable(run: RunContext, planName: string): void {
  const admin = createAdmin(run.target);
  const plan = readPlan(admin, planName);
  if (typeof plan === 'string') exec.test.abort(`no drill could begin: ${plan}`);
  if (domainOf(run, admin) === undefined) exec.test.abort(`no drill could begin: ${NO_DOMAIN}`);
}

/** Runs one drill in each window, one after the other. The step of the loss gets its end as a metric. */
function runDrills(run: RunContext, script: string, planName: string): void {
  const admin = createAdmin(run.target);
  for (const window of drillWindows(run.steps)) {
    const step = window.loss.name;
    const begun = beginDrill(run, window, admin, planName, `${script}, step ${step}, ${runMark(run)}`);
    if (typeof begun === 'string') say({ kind: 'note', text: `${step}: the drill did not begin: ${begun}` });
    const untilMs = run.startedAtMs + holdOf(window.recovery)[1] * 1000;
    const end = typeof begun === 'string' ? 'not-started' : followDrill(admin, begun, untilMs);
    drillEnd.add(codeOfEnd(end), { step });
  }
}

/** A running drill. Times are those of the generator's clock, so that plots do not depend on synchronized clocks. */
interface Begun {
  readonly id: string;
  readonly startedAtMs: number;
}

/** Waits for the start of the drill. @returns the reason if it did not begin. */
function beginDrill(
  run: RunContext,
  window: DrillWindow,
  admin: Admin,
  planName: string,
  reason: string,
): Begun | string {
  const step = window.loss.name;
  const domain = domainOf(run, admin);
  if (domain === undefined) return NO_DOMAIN;
  const plan = readPlan(admin, planName);
  if (typeof plan === 'string') return plan;
  const fitted = fitPlan(withSheds(plan, numberOf(__ENV, 'MAX_SHED', [0, 1], MAX_SHED)), window);
  if (fitted.isShortened) say({ kind: 'note', text: `${step}: ${planName} is shortened to the length of the steps` });

  const waitSeconds = (run.startedAtMs - Date.now()) / 1000 + fitted.startSeconds;
  if (waitSeconds > 0) sleep(waitSeconds);
  const startedAtMs = Date.now();
  const reply = admin('/admin/drills', { plan: fitted.plan, domains: [domain], reason });
  if (!reply.ok) return reply.fault;
  const { id } = reply.body as DrillJournal;
  say({ kind: 'drill-started', drill: id, text: `${planName} on ${domain}, for ${step}`, atMs: startedAtMs });
  return { id, startedAtMs };
}

/** Reports the marks of a drill until it is over, and aborts it at `untilMs`. */
function followDrill(admin: Admin, { id, startedAtMs }: Begun, untilMs: number): DrillEnd {
  let told = 0;
  while (Date.now() < untilMs) {
    sleep(POLL_SECONDS);
    const journal = readDrill(admin, id);
    // A process that does not answer may be overloaded by the drill: the next poll asks again.
    if (journal === undefined) continue;
    const { marks, state, verdict } = journal;
    for (const mark of marks.slice(told)) sayMark(id, mark, startedAtMs + mark.atMs);
    told = marks.length;
    if (state.kind === 'over' && verdict !== undefined) {
      say({ kind: 'drill-ended', drill: id, text: `${verdict.kind}: ${verdict.detail}` });
      return verdict.kind;
    }
  }
  const text = 'unfinished: it was not over when its last step was, and is ended';
  say({ kind: 'drill-ended', drill: id, text });
  abortDrill(admin, id, text);
  return 'unfinished';
}

function sayMark(drill: string, mark: DrillJournal['marks'][number], atMs: number): void {
  if (mark.kind === 'stage') say({ kind: 'drill-stage', drill, text: mark.title ?? 'a stage begins', atMs });
  if (mark.kind === 'restored') say({ kind: 'note', drill, text: `the cache is given back: ${mark.why ?? ''}`, atMs });
}

/** Also runs after an interrupted run: a drill must not go on without the searches that its guards measure. */
function abortOwnDrills(run: RunContext): void {
  const admin = createAdmin(run.target);
  const listed = admin('/admin/drills');
  if (!listed.ok) {
    const words = 'one that still runs ends by its guards, or by itself when there are no more searches';
    say({ kind: 'note', text: `drills could not be looked for: ${listed.fault}; ${words}` });
    return;
  }
  const running = listOf(listed.body, 'drills').filter((drill) => memberOf(drill, 'running') === true);
  for (const id of textsOf(running, 'id')) {
    // Drills of other operators go on.
    if (readDrill(admin, id)?.reason.endsWith(runMark(run)) !== true) continue;
    const text = 'aborted: it still ran when the load had ended';
    if (abortDrill(admin, id, text)) say({ kind: 'drill-ended', drill: id, text });
  }
}

function domainOf({ domains }: RunContext, admin: Admin): string | undefined {
  const named = __ENV['DOMAIN'] || domains[0];
  if (named !== undefined) return named;
  const reply = admin('/admin/domains');
  return reply.ok ? textsOf(listOf(reply.body, 'domains'), 'domain')[0] : undefined;
}

/** The ready-made plan with that name, or the reason why there is none. */
function readPlan(admin: Admin, name: string): DrillPlan | string {
  const reply = admin('/admin/plans');
  if (!reply.ok) return reply.fault;
  const plans = listOf(reply.body, 'plans') as readonly (DrillPlan & { readonly name: string })[];
  const known = plans.map((plan) => plan.name).join(', ');
  return plans.find((plan) => plan.name === name) ?? `PLAN: there is no plan ${name}; allowed: ${known}`;
}
