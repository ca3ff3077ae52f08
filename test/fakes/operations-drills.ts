import type { Caller, Control } from '../../src/control/control.ts';
import { OperationError } from '../../src/control/operation-error.ts';
import { createCohortLayout, forecastCohorts } from '../../src/operations/drills/cohorts.ts';
import type { DrillRequest, Drills, StartRequest } from '../../src/operations/drills/drills.ts';
import type { Journal, Mark, Sample, Verdict } from '../../src/operations/drills/journal.ts';
import type { GuardRule, Plan, PlanStage } from '../../src/operations/drills/plan.ts';
import { describeFaults, readPlan } from '../../src/operations/drills/plan-file.ts';
import type { Clock } from '../../src/runtime.ts';
import { pointerOf } from '../../src/schema/faults.ts';
import { figuresAt, type LossNow, previewOf } from './operations-control.ts';

/** Drills that follow the clock only: every call computes the journal up to now. */
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
      throw new OperationError('invalid-plan', describeFaults(read.faults), pointerOf(first?.path ?? [], '/plan'));
    }
    const plan = FAKE_PLANS.find(({ name }) => name === asked);
    if (plan !== undefined) return plan;
    const known = FAKE_PLANS.map(({ name }) => name).join(', ');
    throw new OperationError('unknown-plan', `There is no plan ${asked}; there are ${known}.`, '/plan');
  };
  const domainsOf = ({ domains }: DrillRequest, plan: Plan): readonly string[] => {
    const chosen = domains ?? (plan.over === 'domains' ? [...controls.keys()] : []);
    for (const name of chosen) {
      if (!controls.has(name)) {
        const known = [...controls.keys()].join(', ');
        throw new OperationError('unknown-domain', `There is no domain ${name}; there are ${known}.`, '/domains');
      }
    }
    if (plan.over === 'one' && chosen.length !== 1) {
      throw new OperationError('invalid-request', 'This plan drills one domain: name it.', '/domains');
    }
    return chosen;
  };
  const find = (id: string): FakeDrill => {
    const drill = drills.find((each) => each.id === id);
    if (drill === undefined) throw new OperationError('unknown-drill', `There is no drill ${id}.`);
    return drill;
  };
  const journalOf = (drill: FakeDrill): Journal => journalAt(drill, clock.wallMs());
  const isRunning = (drill: FakeDrill): boolean => journalOf(drill).state.kind === 'running';
  const isHalted = (): boolean => [...controls.values()].some((control) => control.document().halted !== undefined);

  const start = async (ask: StartRequest, resumes?: string): Promise<Journal> => {
    const plan = planOf(ask.plan);
    const domains = domainsOf(ask, plan);
    if (ask.reason === '') throw new OperationError('reason-required', 'A drill needs a reason.', '/reason');
    if (isHalted()) throw new OperationError('halted', 'Drills are halted; lift the halt first.');
    const other = drills.find((each) => isRunning(each) && each.domains.some((name) => domains.includes(name)));
    if (other !== undefined) throw new OperationError('drill-running', `Drill ${other.id} runs on that domain.`);
    const startedAtMs = clock.wallMs();
    const stamp = new Date(startedAtMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
    const id = `${stamp}-${domains[0]}-${plan.name}-x${drills.length}`;
    const drill: FakeDrill = {
      id,
      plan,
      domains,
      startedAtMs,
      reason: ask.reason,
      by: ask.by,
      resumes,
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
      if (isRunning(drill)) throw new OperationError('drill-running', `Drill ${id} still runs.`);
      if (journalOf(drill).verdict?.resumable === undefined) {
        throw new OperationError('drill-over', `Drill ${id} ended with nothing left to go on with.`);
      }
      return start({ plan: drill.plan, domains: drill.domains, ...caller }, id);
    },
    abort: async (id, { by }) => {
      const drill = find(id);
      if (!isRunning(drill)) throw new OperationError('drill-over', `Drill ${id} is over.`);
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
          id,
          plan: plan.name,
          title: plan.title,
          domains,
          startedAtMs,
          running,
          here: true,
          endedAtMs,
          verdict,
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

const guard = (figure: GuardRule['figure'], max: number, then: GuardRule['then']): GuardRule => {
  return { figure, max, forMs: 2000, then };
};

const GUARDS: readonly GuardRule[] = [
  guard('errorRate', 0.01, 'rollback'),
  guard('shedRate', 0.05, 'rollback'),
  guard('p99Ms', 800, 'hold'),
  guard('engineRateFactor', 12, 'continue'),
  guard('hitRatioDrop', 10, 'rollback'),
];

const fractions = (...all: readonly number[]): readonly PlanStage[] =>
  all.map((fraction) => ({ kind: 'fraction', fraction, holdMs: 5000, title: `${fraction * 100} %` }));

const plan = (name: string, title: string, stages: readonly PlanStage[], over: Plan['over'] = 'one'): Plan => ({
  name,
  title,
  mode: 'drop',
  eraseBy: 'unlink',
  over,
  baselineMs: 3000,
  holdout: 0.01,
  stages,
  guards: GUARDS,
  recovery: { withinPoints: 2, timeoutMs: 10_000 },
  afterMs: 2000,
  minSearches: 50,
});

/** Short enough to watch a drill in a console to its end. */
export const FAKE_PLANS: readonly Plan[] = [
  plan('canary', 'One key in a hundred', fractions(0.01)),
  plan('1-5-25-100', 'In four stages', fractions(0.01, 0.05, 0.25, 1)),
  plan('full-loss', 'Everything at once', fractions(1)),
  plan('node-by-node', 'One node after another', [
    { kind: 'node', node: 0, holdMs: 5000, title: 'first node' },
    { kind: 'node', node: 1, holdMs: 5000, title: 'second node' },
  ]),
  plan('domain-by-domain', 'One domain after another', fractions(1), 'domains'),
  plan('engine-blackout', 'The engine is taken for dead', [{ kind: 'blackout', holdMs: 5000 }]),
];

export interface FakeDrill {
  readonly id: string;
  readonly plan: Plan;
  readonly domains: readonly string[];
  readonly startedAtMs: number;
  readonly reason: string;
  readonly by: string;
  readonly resumes?: string;
  aborted?: { readonly atMs: number; readonly why: string };
}

interface Step {
  readonly domain: string;
  readonly phase: Sample['phase'];
  readonly stage: number;
  readonly fromMs: number;
  readonly toMs: number;
}

const SAMPLE_MS = 500;
const RECOVERY_MS = 3000;

/** The journal of the drill up to `nowMs` (wall time). */
export function journalAt(drill: FakeDrill, nowMs: number): Journal {
  const { plan, startedAtMs, aborted } = drill;
  const steps = stepsOf(drill);
  const lastMs = steps.at(-1)?.toMs ?? 0;
  const elapsedMs = Math.max(0, Math.min(nowMs, aborted?.atMs ?? nowMs) - startedAtMs);
  const atMs = Math.min(elapsedMs, lastMs);
  const isOver = aborted !== undefined || elapsedMs >= lastMs;
  const current = steps.find(({ toMs }) => toMs > atMs) ?? steps.at(-1);
  const place = { domain: current?.domain ?? '', stage: current?.stage ?? 0 };
  const verdict = isOver ? verdictOf(drill, place) : undefined;
  const samples = Array.from({ length: Math.floor(atMs / SAMPLE_MS) }, (_, i) => sampleAt(drill, steps, i));
  const [first] = samples;
  return {
    id: drill.id,
    plan,
    domains: drill.domains,
    reason: drill.reason,
    by: drill.by,
    owner: 'fake-process',
    startedAtMs,
    endedAtMs: isOver ? startedAtMs + atMs : undefined,
    previews: Object.fromEntries(drill.domains.map((name) => [name, previewOf(plan.mode, 1, [{ from: 0, to: 9900 }])])),
    samples,
    marks: [
      ...steps.filter(({ fromMs }) => fromMs <= atMs).flatMap((step) => marksOf(plan, step)),
      ...(isOver ? [{ atMs, domain: place.domain, kind: 'restored', why: aborted?.why ?? 'finished' } as const] : []),
    ],
    state: isOver ? { kind: 'over' } : { kind: 'running', phase: current?.phase ?? 'baseline', ...place },
    verdict,
    learned:
      first === undefined
        ? []
        : drill.domains.map((domain) => ({
            domain,
            baseline: first.figures,
            stages: plan.stages.map((stage, i) => ({
              stage: i,
              title: stage.title ?? `stage ${i + 1}`,
              before: 0.89,
              lowest: 0.11,
              end: 0.86,
              control: 0.89,
              refillMs: 4200,
              peakEngineCallsPerSecond: 190,
            })),
            survival: {
              headroom: { low: 4, high: 4.5 },
              headroomLeft: { low: 1.3, high: 1.5 },
              amplification: { low: 7.2, high: 8.6 },
              survivable: { low: 0.39, high: 0.57 },
            },
          })),
    resumes: drill.resumes,
  };
}

function stepsOf({ plan, domains }: FakeDrill): readonly Step[] {
  const steps: Step[] = [];
  const add = (domain: string, phase: Sample['phase'], stage: number, ms: number): void => {
    const fromMs = steps.at(-1)?.toMs ?? 0;
    steps.push({ domain, phase, stage, fromMs, toMs: fromMs + ms });
  };
  for (const domain of domains) {
    add(domain, 'baseline', 0, plan.baselineMs);
    plan.stages.forEach(({ holdMs }, stage) => {
      add(domain, 'stage', stage, holdMs);
    });
    add(domain, 'recovery', plan.stages.length - 1, RECOVERY_MS);
    add(domain, 'after', plan.stages.length - 1, plan.afterMs);
  }
  return steps;
}

function sampleAt({ plan }: FakeDrill, steps: readonly Step[], i: number): Sample {
  const atMs = (i + 1) * SAMPLE_MS;
  const step = steps.find(({ toMs }) => toMs >= atMs) ?? steps[0];
  const { domain = '', phase = 'baseline', stage = 0, fromMs = 0 } = step ?? {};
  const isLost = phase === 'stage' || phase === 'hold' || phase === 'recovery';
  const planned = plan.stages[stage];
  const fraction = planned?.kind === 'fraction' ? planned.fraction : 0.5;
  const loss: LossNow | undefined = isLost ? { fraction, sinceMs: atMs - fromMs } : undefined;
  const figures = figuresAt(atMs, SAMPLE_MS / 1000, loss, stage + 2);
  const { errorRate = 0, shedRate = 0, p99Ms = 0 } = figures;
  const values: Readonly<Record<string, number>> = { errorRate, shedRate, p99Ms };
  const guards = plan.guards.map(({ figure, max }) => {
    const value = values[figure];
    return { figure, value, broken: value !== undefined && value > max };
  });
  return { atMs, domain, phase, stage, figures, guards };
}

function marksOf({ stages }: Plan, { domain, phase, stage, fromMs }: Step): readonly Mark[] {
  const mark: Mark = { atMs: fromMs, domain, kind: 'phase', phase };
  if (phase !== 'stage') return [mark];
  const title = stages[stage]?.title ?? `stage ${stage + 1}`;
  return [mark, { atMs: fromMs, domain, kind: 'stage', stage, ranges: [{ from: 0, to: 100 * (stage + 1) }], title }];
}

function verdictOf({ aborted }: FakeDrill, resumable: { readonly domain: string; readonly stage: number }): Verdict {
  if (aborted === undefined) return { kind: 'passed', detail: 'Every stage held and the cache came back.' };
  return { kind: 'aborted', detail: `It was ${aborted.why}.`, resumable };
}
