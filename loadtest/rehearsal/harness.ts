import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Option } from '../../src/commands/arguments.ts';
import type { ControlSummary } from '../../src/control/control.ts';
import type { Journal } from '../../src/operations/drills/journal.ts';
import type { Plan } from '../../src/operations/drills/plan.ts';
import type { Document } from '../../src/search/domain.ts';
import type { DomainStatus } from '../../src/search/status.ts';
import { engineCallsOf } from '../k6/kit/metrics-text.ts';
import { documentsOf, type ReplicaPlan, readPlan, type StackPlan } from '../stack/plan.ts';
import { findOwned } from '../stack/process.ts';
import { operatorAt } from '../stack/service.ts';
import { down, startPart, stopPart, up } from '../stack/stack.ts';
import { type Queries, queriesOf } from '../traffic/queries.ts';
import { say } from './rehearse.ts';

export type Harness = Awaited<ReturnType<typeof startHarness>>;
type Replica = ReturnType<typeof replicaOf>;

export const CLOCKS_AHEAD_MS = [0, 5000, -5000] as const;
/** The replica that runs `checkout`. It owns no drill and no shadow at first, and takes over when the owner ends. */
const CHECKOUT_REPLICA = 1;
export const CHECKOUT: Option = {
  name: 'checkout',
  takes: 'FOLDER',
  about: 'run the second replica from another checkout: two versions share stores and control document',
};
const REPEATED = 400;
const MAX_DOCUMENTS = 3000;

/**
 * The local stack with three replicas whose wall clocks disagree by ten seconds, and an operator at each.
 * @throws when a stack already runs.
 */
export async function startHarness(checkout?: string) {
  const read = readFreePlan(CLOCKS_AHEAD_MS.length, { checkout });
  const replicas = read.replicas.map((replica, at) => ({
    ...replica,
    clockAheadMs: CLOCKS_AHEAD_MS[at] ?? 0,
    // No entry expires during the rehearsal: an expiry would look like an effect of the drill.
    env: { ...replica.env, LOCAL_TTL: '30m' },
  }));
  const plan: StackPlan = { ...read, replicas };
  try {
    await up(plan, say);
    const { domain } = firstIndex(plan);
    return {
      domain: domain.name,
      replicas: replicas.map((replica) => replicaOf(plan, replica)),
      queries: await queriesFor(plan, REPEATED),
      stop: () => down(plan),
    };
  } catch (error) {
    await down(plan);
    throw error;
  }
}

/** @throws when a stack already runs: its cache may be in use. */
export function readFreePlan(
  replicas: number,
  { isWatched, checkout }: { readonly isWatched?: boolean; readonly checkout?: string } = {},
): StackPlan {
  const plan = readPlan(process.env, replicas, undefined, isWatched);
  const running = plan.replicas.filter((replica) => findOwned(replica).length > 0);
  if (running.length > 0) throw new Error('a stack runs here already: `npm run stack -- down` ends it');
  if (checkout === undefined) return plan;
  const own = resolve(checkout);
  return {
    ...plan,
    replicas: plan.replicas.map((replica, at) => (at === CHECKOUT_REPLICA ? { ...replica, checkout: own } : replica)),
  };
}

/** The domain that a rehearsal works on. */
export function firstIndex({ indexes: [first] }: StackPlan): StackPlan['indexes'][number] {
  if (first === undefined) throw new Error('a stack without a domain');
  return first;
}

export async function queriesFor(plan: StackPlan, repeated: number): Promise<Queries> {
  const documents: Document[] = [];
  for await (const one of documentsOf(firstIndex(plan).domain, plan.corpora)) {
    if (documents.push(one) >= MAX_DOCUMENTS) break;
  }
  return queriesOf(documents, repeated);
}

export function replicaOf(plan: StackPlan, replica: ReplicaPlan) {
  const adminUrl = `http://127.0.0.1:${replica.adminPort}`;
  return {
    adminUrl,
    url: `http://127.0.0.1:${replica.port}`,
    pid: () => findOwned(replica)[0]?.pid,
    admin: operatorAt(adminUrl, plan.adminToken),
    /** SIGKILL. */
    kill: () => stopPart(replica, 0),
    start: () => startPart(plan, replica, say),
  };
}

export function replicaAt<Any>({ replicas }: { readonly replicas: readonly Any[] }, at: number): Any {
  const replica = replicas[at];
  if (replica === undefined) throw new Error(`there is no replica ${at}`);
  return replica;
}

/** A plan that the replica offers, to be started with changes. */
export async function planNamed({ admin }: Replica, name: string): Promise<Plan> {
  const { plans } = await admin.get<{ readonly plans: readonly Plan[] }>('/admin/plans');
  const plan = plans.find((each) => each.name === name);
  if (plan === undefined) throw new Error(`no plan ${name}; there are ${plans.map((each) => each.name).join(', ')}`);
  return plan;
}

export function startDrill(
  { admin }: Replica,
  { domain }: Pick<Harness, 'domain'>,
  plan: string | Plan,
): Promise<Journal> {
  return admin.post<Journal>('/admin/drills', { plan, domains: [domain], reason: 'rehearsal' });
}

/** Polls the drill's journal until it holds. @throws after five minutes, or when the drill ended before. */
export async function until(
  { admin }: Replica,
  id: string,
  what: string,
  holds: (journal: Journal) => boolean,
): Promise<Journal> {
  const untilMs = performance.now() + DRILL_MS;
  for (;;) {
    const journal = await admin.get<Journal>(`/admin/drills/${id}`);
    if (holds(journal)) return journal;
    const { verdict } = journal;
    if (isOver(journal)) throw new Error(`${id}: waited for ${what}; it ended ${verdict?.kind}: ${verdict?.detail}`);
    if (performance.now() > untilMs) throw new Error(`${id}: waited ${DRILL_MS} ms in vain for ${what}`);
    await sleep(100);
  }
}

const DRILL_MS = 300_000;

export function isOver({ state }: Journal): boolean {
  return state.kind === 'over';
}

export function atLastStage({ plan, marks }: Journal): boolean {
  return marks.some((mark) => mark.kind === 'stage' && mark.stage === plan.stages.length - 1);
}

export async function controlOf({ admin }: Replica, { domain }: Harness): Promise<ControlSummary> {
  type Status = DomainStatus & { readonly control: ControlSummary };
  const { domains } = await admin.get<{ readonly domains: readonly Status[] }>('/admin/domains');
  const found = domains.find((each) => each.domain === domain);
  if (found === undefined) throw new Error(`no domain ${domain}`);
  return found.control;
}

/** Engine calls per second of all replicas together, measured over `ms`. */
export async function engineRate(harness: Harness, ms: number): Promise<number> {
  const [before, startMs] = [await engineCalls(harness), performance.now()];
  await sleep(ms);
  return ((await engineCalls(harness)) - before) / ((performance.now() - startMs) / 1000);
}

/** Engine calls of all replicas together since they started. */
export async function engineCalls({ replicas }: Pick<Harness, 'replicas'>): Promise<number> {
  const pages = await Promise.all(replicas.map(({ admin }) => admin.page('/metrics')));
  return pages.reduce((sum, page) => sum + (engineCallsOf(page) ?? 0), 0);
}
