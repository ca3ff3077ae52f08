import type { Caller, Control } from '../../src/control/control.ts';
import { OperationError } from '../../src/control/operation-error.ts';
import { createCohortLayout, forecastCohorts } from '../../src/operations/drills/cohorts.ts';
import type { Drills } from '../../src/operations/drills/create-drills.ts';
import type { DrillDomain, DrillRequest, StartRequest } from '../../src/operations/drills/drills.ts';
import type { Journal, Mark, Verdict } from '../../src/operations/drills/journal.ts';
import type { Plan, PlanStage } from '../../src/operations/drills/plan.ts';
import { resolveRequest } from '../../src/operations/drills/resolve-request.ts';
import { type Clock, systemClock } from '../../src/runtime.ts';
import { journalOf, STAGED } from './journal.ts';
import { createFakeFlush, previewOf } from './operations-control.ts';

/** Drills that follow the clock only: every call computes the journal up to now. */
export function createFakeDrills(options: {
  readonly controls: ReadonlyMap<string, Control>;
  readonly clock: Clock;
}): Drills {
  const { controls, clock } = options;
  const drills: FakeDrill[] = [];
  const parts = [...controls].map(([name, control]) => drilledDomain(name, control));
  /** As the service resolves it. */
  const resolved = (request: DrillRequest): { readonly plan: Plan; readonly domains: readonly string[] } => {
    const { plan, domains } = resolveRequest(request, parts, () => FAKE_PLANS);
    return { plan, domains: domains.map(({ name }) => name) };
  };

  const find = (id: string): FakeDrill => {
    const drill = drills.find((each) => each.id === id);
    if (drill === undefined) throw new OperationError('unknown-drill', `There is no drill ${id}.`);
    return drill;
  };
  const journalNow = (drill: FakeDrill): Journal => journalAt(drill, clock.wallMs());
  const isRunning = (drill: FakeDrill): boolean => journalNow(drill).state.kind === 'running';
  const isHalted = (): boolean => [...controls.values()].some((control) => control.document().halted !== undefined);

  const start = async (ask: StartRequest, resumes?: string): Promise<Journal> => {
    const { plan, domains } = resolved(ask);
    if (ask.reason === '') throw new OperationError('reason-required', 'A drill needs a reason.', '/reason');
    if (isHalted()) throw new OperationError('halted', 'Drills are halted; lift the halt first.');
    const other = drills.find((each) => isRunning(each) && each.whole.domains.some((name) => domains.includes(name)));
    if (other !== undefined) throw new OperationError('drill-running', `Drill ${other.id} runs on that domain.`);
    const startedAtMs = clock.wallMs();
    const stamp = new Date(startedAtMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
    const id = `${stamp}-${domains[0]}-${plan.name}-x${drills.length}`;
    const drill: FakeDrill = {
      id,
      startedAtMs,
      by: ask.by,
      resumes,
      whole: journalOf({ plan, domains, reason: ask.reason, ...TRAFFIC }),
    };
    drills.push(drill);
    return journalNow(drill);
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
      const { plan, domains: names } = resolved(ask);
      const domains = names.map((domain) => ({
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
      if (journalNow(drill).verdict?.resumable === undefined) {
        throw new OperationError('drill-over', `Drill ${id} ended with nothing left to go on with.`);
      }
      return start({ plan: drill.whole.plan, domains: drill.whole.domains, ...caller }, id);
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
        const { id, plan, domains, startedAtMs, endedAtMs, verdict } = journalNow(drill);
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
    journal: async (id) => journalNow(find(id)),
    page: async (id) => {
      const title = `Drill ${find(id).id}`;
      return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1></html>`;
    },
    close: async () => {},
  };
}

/** A domain with a store of two nodes. */
function drilledDomain(name: string, control: Control): DrillDomain {
  return {
    name,
    control,
    flush: createFakeFlush(control, systemClock),
    readings: { collect: async () => undefined },
    recent: () => undefined,
    nodes: () => ['127.0.0.1:6379', '127.0.0.1:6380'],
    dedicated: false,
    hasStore: true,
    patienceMs: 2000,
  };
}

const fractions = (...all: readonly number[]): readonly PlanStage[] =>
  all.map((fraction) => ({ kind: 'fraction', fraction, holdMs: 5000, title: `${fraction * 100} %` }));

const plan = (name: string, title: string, stages: readonly PlanStage[], over: Plan['over'] = 'one'): Plan => ({
  ...STAGED,
  name,
  title,
  over,
  baselineMs: 3000,
  stages,
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

interface FakeDrill {
  readonly id: string;
  readonly startedAtMs: number;
  readonly by: string;
  readonly resumes?: string;
  /** Its journal when it is not aborted. */
  readonly whole: Journal;
  aborted?: { readonly atMs: number; readonly why: string };
}

const TRAFFIC = {
  searchesPerSecond: 2400,
  hitRatio: 0.89,
  slots: 80,
  engineCallMs: 24,
  refillMs: 4000,
  recoveryMs: 3000,
};

/** The journal of the drill up to `nowMs` (wall time). */
function journalAt(drill: FakeDrill, nowMs: number): Journal {
  const { id, startedAtMs, by, resumes, whole, aborted } = drill;
  const lastMs = (whole.endedAtMs ?? 0) - whole.startedAtMs;
  const atMs = Math.max(0, Math.min(nowMs - startedAtMs, (aborted?.atMs ?? nowMs) - startedAtMs, lastMs));
  const isOver = aborted !== undefined || atMs >= lastMs;
  const samples = whole.samples.filter((sample) => sample.atMs <= atMs);
  const marks = whole.marks.filter((mark) => mark.atMs <= atMs);
  const phase = marks.findLast((mark) => mark.kind === 'phase')?.phase ?? 'baseline';
  const { domain = '', stage = 0 } = marks.findLast((mark) => mark.kind === 'stage') ?? {};
  const place = { domain: marks.at(-1)?.domain ?? domain, stage };
  const restored: Mark = { atMs, domain: place.domain, kind: 'restored', why: aborted?.why ?? 'finished' };
  return {
    ...whole,
    id,
    by,
    owner: 'fake-process',
    startedAtMs,
    resumes,
    endedAtMs: isOver ? startedAtMs + atMs : undefined,
    samples,
    marks: aborted === undefined ? marks : [...marks, restored],
    state: isOver ? { kind: 'over' } : { kind: 'running', phase, ...place },
    verdict: isOver ? verdictOf(drill, place) : undefined,
    learned: samples.length === 0 ? [] : whole.learned,
  };
}

function verdictOf({ aborted }: FakeDrill, resumable: { readonly domain: string; readonly stage: number }): Verdict {
  if (aborted === undefined) return { kind: 'passed', detail: 'Every stage held and the cache came back.' };
  return { kind: 'aborted', detail: `It was ${aborted.why}.`, resumable };
}
