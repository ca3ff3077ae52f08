import type { Control } from '../../src/control/control.ts';
import { OperationRefused } from '../../src/control/operation-error.ts';
import { createCohortLayout, forecastCohorts } from '../../src/operations/drills/cohorts.ts';
import type { Caller, DrillRequest, Drills, StartRequest } from '../../src/operations/drills/drills.ts';
import type { Journal } from '../../src/operations/drills/journal.ts';
import { describeFault, type Plan, pointerOf } from '../../src/operations/drills/plan.ts';
import { readPlan } from '../../src/operations/drills/plan-validation.ts';
import type { Clock } from '../../src/runtime.ts';
import { previewOf } from './operations-control.ts';
import { type FakeDrill, journalAt } from './operations-journal.ts';
import { FAKE_PLANS } from './operations-plans.ts';

/** Drills that run by the clock alone: what happened so far is calculated whenever somebody asks. */
export function createFakeDrills(options: {
  readonly controls: ReadonlyMap<string, Control>;
  readonly clock: Clock;
}): Drills {
  const { controls, clock } = options;
  const drills: FakeDrill[] = [];

  const planOf = (asked: string | Plan): Plan => {
    if (typeof asked !== 'string') {
      const read = readPlan(asked, { form: 'object', nodes: 2 });
      if (read.kind === 'plan') return read.plan;
      const [first] = read.faults;
      throw new OperationRefused(
        'invalid-plan',
        read.faults.map(describeFault).join('\n'),
        pointerOf(first?.path ?? [], '/plan'),
      );
    }
    const plan = FAKE_PLANS.find(({ name }) => name === asked);
    if (plan !== undefined) return plan;
    const known = FAKE_PLANS.map(({ name }) => name).join(', ');
    throw new OperationRefused('unknown-plan', `There is no plan ${asked}; there are ${known}.`, '/plan');
  };
  const domainsOf = ({ domains }: DrillRequest, plan: Plan): readonly string[] => {
    const chosen = domains ?? (plan.over === 'domains' ? [...controls.keys()] : []);
    for (const name of chosen) {
      if (!controls.has(name)) {
        const known = [...controls.keys()].join(', ');
        throw new OperationRefused('unknown-domain', `There is no domain ${name}; there are ${known}.`, '/domains');
      }
    }
    if (plan.over === 'one' && chosen.length !== 1) {
      throw new OperationRefused('invalid-request', 'This plan drills one domain: name it.', '/domains');
    }
    return chosen;
  };
  const find = (id: string): FakeDrill => {
    const drill = drills.find((each) => each.id === id);
    if (drill === undefined) throw new OperationRefused('unknown-drill', `There is no drill ${id}.`);
    return drill;
  };
  const journalOf = (drill: FakeDrill): Journal => journalAt(drill, clock.wallMs());
  const isRunning = (drill: FakeDrill): boolean => journalOf(drill).state.kind === 'running';
  const isHalted = (): boolean => [...controls.values()].some((control) => control.document().halted !== undefined);

  const start = async (ask: StartRequest, resumes?: string): Promise<Journal> => {
    const plan = planOf(ask.plan);
    const domains = domainsOf(ask, plan);
    if (ask.reason === '') throw new OperationRefused('reason-required', 'A drill needs a reason.', '/reason');
    if (isHalted()) throw new OperationRefused('halted', 'Drills are halted; lift the halt first.');
    const other = drills.find((each) => isRunning(each) && each.domains.some((name) => domains.includes(name)));
    if (other !== undefined) throw new OperationRefused('drill-running', `Drill ${other.id} runs on that domain.`);
    const startedAtMs = clock.wallMs();
    const stamp = new Date(startedAtMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
    const id = `${stamp}-${domains[0]}-${plan.name}-x${drills.length}`;
    const drill: FakeDrill = {
      ...{ id, plan, domains, startedAtMs, reason: ask.reason, by: ask.by },
      ...(resumes === undefined ? {} : { resumes }),
    };
    drills.push(drill);
    return journalOf(drill);
  };
  const stop = (drill: FakeDrill, why: string): void => {
    if (isRunning(drill)) drill.aborted ??= { atMs: clock.wallMs(), why };
  };
  const setHalt = async (caller: Caller | undefined): Promise<void> => {
    for (const control of controls.values()) {
      await control.change(({ halted: _, ...now }) =>
        caller === undefined ? now : { ...now, halted: { ...caller, atMs: clock.wallMs() } },
      );
    }
  };

  return {
    plans: () => FAKE_PLANS,
    preview: async (ask) => {
      const plan = planOf(ask.plan);
      const domains = domainsOf(ask, plan).map((domain) => ({
        domain,
        stages: plan.stages.map((stage, i) => {
          const fraction = stage.kind === 'fraction' ? stage.fraction : 0.5;
          const ranges = [{ from: 0, to: Math.round(fraction * 10_000) }];
          return { title: stage.title ?? `stage ${i + 1}`, preview: previewOf(plan.mode, fraction, ranges) };
        }),
        cohorts: forecastCohorts(plan, createCohortLayout(plan, 0, 2), 240),
      }));
      return { plan, domains, warnings: ['The last stage loses more at once than the engine can carry (f* 39.5 %).'] };
    },
    start: (ask) => start(ask),
    resume: async (id, caller) => {
      const drill = find(id);
      if (isRunning(drill)) throw new OperationRefused('drill-running', `Drill ${id} still runs.`);
      if (journalOf(drill).verdict?.resumable === undefined) {
        throw new OperationRefused('drill-over', `Drill ${id} ended with nothing left to go on with.`);
      }
      return start({ plan: drill.plan, domains: drill.domains, ...caller }, id);
    },
    abort: async (id, { by }) => {
      const drill = find(id);
      if (!isRunning(drill)) throw new OperationRefused('drill-over', `Drill ${id} is over.`);
      stop(drill, `aborted by ${by}`);
    },
    halt: async (caller) => {
      for (const drill of drills) stop(drill, `halted by ${caller.by}`);
      await setHalt(caller);
    },
    lift: () => setHalt(undefined),
    list: async () => ({
      unreadable: [],
      drills: drills.toReversed().map((drill) => {
        const { id, plan, domains, startedAtMs, endedAtMs, verdict } = journalOf(drill);
        const running = isRunning(drill);
        return {
          ...{ id, plan: plan.name, title: plan.title, domains, startedAtMs, running, here: true },
          ...(endedAtMs === undefined ? {} : { endedAtMs }),
          ...(verdict === undefined ? {} : { verdict }),
        };
      }),
    }),
    journal: async (id) => journalOf(find(id)),
    page: async (id) => {
      const title = `Drill ${find(id).id}`;
      return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1></html>`;
    },
    close: async () => {},
  };
}
