import { sleep } from 'k6';
import exec from 'k6/execution';
import { type Admin, createAdmin, listOf, memberOf, textsOf } from './admin.ts';
import { codeOfEnd, type DrillEnd } from './drill-end.ts';
import { fitPlan, isPlan, type PlanTimes } from './drill-fit.ts';
import { type Guarded, withSheds } from './drill-guards.ts';
import { abortDrill, lookAtDrill, runMark } from './drill-hands.ts';
import { type DrillJournal, journalOf } from './drill-journal.ts';
import { type DrillRoom, drillRooms } from './drill-room.ts';
import { say } from './event.ts';
import { drillEnd } from './metrics.ts';
import type { Scene } from './script.ts';
import { numberOf } from './setting.ts';
import { holdOf } from './step.ts';

export interface Drilling {
  readonly script: string;
  /** A ready-made plan, when PLAN names no other. */
  readonly plan: string;
}

const LOOK_SECONDS = 1;
/** Of the searches: with more than half refused, nothing is survived. */
const MAX_SHED = 0.5;
const NO_DOMAIN = 'no domain is known; DOMAIN names one';

/** Ends the run before anything is sent when no drill of it could begin. */
export function checkDrillable(scene: Scene, { plan }: Drilling): void {
  const admin = createAdmin(scene.target);
  const found = readyPlan(admin, planName(plan));
  if (typeof found === 'string') exec.test.abort(`no drill could begin: ${found}`);
  if (domainOf(scene, admin) === undefined) exec.test.abort(`no drill could begin: ${NO_DOMAIN}`);
}

/** One drill in each room of the run, one after the other. How each ended is measured at the step of its loss. */
export function operateDrills(scene: Scene, { script, plan }: Drilling): void {
  const admin = createAdmin(scene.target);
  for (const room of drillRooms(scene.steps)) {
    const { name } = room.loss;
    const reason = `${script}, step ${name}, ${runMark(scene)}`;
    const end = drillIn({ scene, room, admin, reason, name: planName(plan) });
    drillEnd.add(codeOfEnd(end), { step: name });
  }
}

interface DrillWish {
  readonly scene: Scene;
  readonly room: DrillRoom;
  readonly admin: Admin;
  readonly reason: string;
  /** Of the plan. */
  readonly name: string;
}

function drillIn({ scene, room, admin, reason, name }: DrillWish): DrillEnd {
  const step = room.loss.name;
  const domain = domainOf(scene, admin);
  if (domain === undefined) return notStarted(step, NO_DOMAIN);
  const plan = readyPlan(admin, name);
  if (typeof plan === 'string') return notStarted(step, plan);
  const fitted = fitPlan(withSheds(plan, numberOf(__ENV, 'MAX_SHED', [0, 1], MAX_SHED)), room);
  if (fitted.isShortened) say({ kind: 'note', text: `${step}: ${name} is shortened to the length of the steps` });

  sleepUntil(scene.startedAtMs + fitted.startSeconds * 1000);
  const startedAtMs = Date.now();
  const begun = admin.post('/admin/drills', { plan: fitted.plan, domains: [domain], reason });
  const journal = begun.ok ? journalOf(begun.body) : undefined;
  if (journal === undefined) return notStarted(step, begun.ok ? 'its journal cannot be read' : begun.fault);
  const { id } = journal;
  say({ kind: 'drill-started', drill: id, text: `${name} on ${domain}, for ${step}`, atMs: startedAtMs });
  return follow(admin, id, startedAtMs, scene.startedAtMs + holdOf(room.recovery)[1] * 1000);
}

/** Tells what happens in it until it is over; at `untilMs` it is ended. */
function follow(admin: Admin, id: string, startedAtMs: number, untilMs: number): DrillEnd {
  let told = 0;
  while (Date.now() < untilMs) {
    sleep(LOOK_SECONDS);
    const journal = lookAtDrill(admin, id);
    // A process that does not answer now may be the one that is drilled too hard: it is asked again until the end.
    if (journal === undefined) continue;
    const { marks, state, verdict } = journal;
    for (const mark of marks.slice(told)) tell(id, mark, startedAtMs + mark.atMs);
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

/** Times are of the generator's clock: what is drawn beside its seconds should not depend on how clocks agree. */
function tell(drill: string, { kind, title, why }: DrillJournal['marks'][number], atMs: number): void {
  if (kind === 'stage') say({ kind: 'drill-stage', drill, text: title ?? 'a stage begins', atMs });
  if (kind === 'restored') say({ kind: 'note', drill, text: `the cache is given back: ${why ?? ''}`, atMs });
}

function notStarted(step: string, why: string): DrillEnd {
  say({ kind: 'note', text: `${step}: the drill did not begin: ${why}` });
  return 'not-started';
}

function planName(otherwise: string): string {
  return __ENV['PLAN'] || otherwise;
}

function domainOf({ domains }: Scene, admin: Admin): string | undefined {
  const named = __ENV['DOMAIN'] || domains[0];
  if (named !== undefined) return named;
  const reply = admin.get('/admin/domains');
  return reply.ok ? textsOf(listOf(reply.body, 'domains'), 'domain')[0] : undefined;
}

/** The plan, or why there is none. */
function readyPlan(admin: Admin, name: string): (PlanTimes & Guarded) | string {
  const reply = admin.get('/admin/plans');
  if (!reply.ok) return reply.fault;
  const plans = listOf(reply.body, 'plans');
  const found = plans.find((plan) => memberOf(plan, 'name') === name);
  const known = textsOf(plans, 'name').join(', ');
  return isPlan(found) ? found : `PLAN: there is no plan ${name}; allowed: ${known}`;
}

function sleepUntil(atMs: number): void {
  const seconds = (atMs - Date.now()) / 1000;
  if (seconds > 0) sleep(seconds);
}
