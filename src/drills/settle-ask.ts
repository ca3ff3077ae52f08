import { OperationRefused } from '../control/refusal.ts';
import type { DrillDomain } from './drill-domain.ts';
import type { DrillAsk } from './drills.ts';
import { fitPatience } from './patience.ts';
import type { Plan } from './plan.ts';
import { describeFault, pointerOf } from './plan-fault.ts';
import { readPlan } from './read-plan.ts';
import type { ReadyPlans } from './ready-plans.ts';

export interface Settled {
  readonly plan: Plan;
  readonly domains: readonly [DrillDomain, ...DrillDomain[]];
}

/** Which plan over which domains somebody means. @throws OperationRefused */
export function settleAsk(ask: DrillAsk, all: readonly DrillDomain[], ready: ReadyPlans): Settled {
  const named = ask.domains?.map((name) => domainOf(name, all));
  const nodes = Math.max(0, ...(named ?? all).map((domain) => domain.nodes().length));
  const plan = typeof ask.plan === 'string' ? readyPlan(ask.plan, ready(nodes)) : checkedPlan(ask.plan, nodes);
  const chosen = named ?? (plan.over === 'domains' || all.length === 1 ? all : []);
  const [first, ...others] = [...new Set(chosen)];
  if (first === undefined || (plan.over === 'one' && others.length > 0)) {
    const known = all.map(({ name }) => name).join(', ');
    const words = plan.over === 'one' ? 'drills one domain: name it' : 'needs a domain at least';
    throw new OperationRefused('invalid-request', `Plan ${plan.name} ${words} (${known}).`, '/domains');
  }
  const domains = [first, ...others] as const;
  for (const domain of domains) fit(plan, domain);
  return {
    plan: fitPatience(
      plan,
      domains.map(({ patienceMs }) => patienceMs),
    ),
    domains,
  };
}

function domainOf(name: string, all: readonly DrillDomain[]): DrillDomain {
  const domain = all.find((one) => one.name === name);
  if (domain !== undefined) return domain;
  const known = all.map((one) => one.name).join(', ');
  throw new OperationRefused('unknown-domain', `There is no domain ${name}; known: ${known}.`, '/domains');
}

function readyPlan(name: string, ready: readonly Plan[]): Plan {
  const plan = ready.find((one) => one.name === name);
  if (plan !== undefined) return plan;
  const known = ready.map((one) => one.name).join(', ');
  throw new OperationRefused('unknown-plan', `There is no plan ${name}; ready-made are ${known}.`, '/plan');
}

/** Whoever sends a plan may have written it by hand. */
function checkedPlan(given: unknown, nodes: number): Plan {
  const read = readPlan(given, { form: 'object', nodes });
  if (read.kind === 'plan') return read.plan;
  const [first] = read.faults;
  const words = read.faults.map(describeFault).join('\n');
  throw new OperationRefused('invalid-plan', words, pointerOf(first?.path ?? [], '/plan'));
}

/** Whether the domain has what the plan takes away. */
function fit({ name: planName, stages, mode, eraseBy }: Plan, { name, nodes, hasStore, dedicated }: DrillDomain): void {
  const place = stages.findIndex(({ kind }) => kind === 'node');
  const takesNodes = place >= 0 || (mode === 'erase' && eraseBy === 'flushall');
  if (takesNodes && !hasStore) {
    const words = `Domain ${name} has no store, so it has no node to lose; plan ${planName} takes one.`;
    throw new OperationRefused('no-store', words, place < 0 ? '/plan/eraseBy' : `/plan/stages/${place}`);
  }
  const count = nodes().length;
  const beyond = stages.findIndex((stage) => stage.kind === 'node' && stage.node >= count);
  if (beyond >= 0) {
    const words = `The store of ${name} has ${count} nodes (counted from 0), fewer than the plan names.`;
    throw new OperationRefused('invalid-plan', words, `/plan/stages/${beyond}/node`);
  }
  if (mode === 'erase' && eraseBy === 'flushall' && !dedicated) {
    const words = `The store of ${name} is not declared dedicated: FLUSHALL could empty what others keep there.`;
    throw new OperationRefused('not-dedicated', words, '/plan/eraseBy');
  }
}
