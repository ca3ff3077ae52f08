import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlSummary } from '../../src/control/control.ts';
import type { Journal } from '../../src/operations/drills/journal.ts';
import type { Plan } from '../../src/operations/drills/plan.ts';
import type { DomainStatus } from '../../src/search/status.ts';
import type { Bed, Replica } from './bed.ts';

/** An operator's hands on one replica: what the CLI does, with nothing to read in between. */
export async function planNamed({ admin }: Replica, name: string): Promise<Plan> {
  const { plans } = await admin.get<{ readonly plans: readonly Plan[] }>('/admin/plans');
  const plan = plans.find((each) => each.name === name);
  if (plan === undefined) throw new Error(`no plan ${name}; there are ${plans.map((each) => each.name).join(', ')}`);
  return plan;
}

export function start({ admin }: Replica, { domain }: Bed, plan: string | Plan): Promise<Journal> {
  return admin.post<Journal>('/admin/drills', { plan, domains: [domain], reason: 'rehearsal' });
}

export function journalOf({ admin }: Replica, id: string): Promise<Journal> {
  return admin.get<Journal>(`/admin/drills/${id}`);
}

/** Looks until it holds. @throws after `timeoutMs`, or when the drill is over before. */
export async function until(
  replica: Replica,
  id: string,
  what: string,
  holds: (journal: Journal) => boolean,
  timeoutMs = 300_000,
): Promise<Journal> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const journal = await journalOf(replica, id);
    if (holds(journal)) return journal;
    const { state, verdict } = journal;
    if (state.kind === 'over')
      throw new Error(`${id}: waited for ${what}; it ended ${verdict?.kind}: ${verdict?.detail}`);
    if (performance.now() > untilMs) throw new Error(`${id}: waited ${timeoutMs} ms in vain for ${what}`);
    await sleep(100);
  }
}

export function isOver({ state }: Journal): boolean {
  return state.kind === 'over';
}

export async function controlOf({ admin }: Replica, { domain }: Bed): Promise<ControlSummary> {
  const { domains } = await admin.get<{
    readonly domains: readonly (DomainStatus & { readonly control: ControlSummary })[];
  }>('/admin/domains');
  const found = domains.find((each) => each.domain === domain);
  if (found === undefined) throw new Error(`no domain ${domain}`);
  return found.control;
}
