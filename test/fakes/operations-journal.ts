import type { Journal, Mark, Sample, Verdict } from '../../src/operations/drills/journal.ts';
import type { Plan } from '../../src/operations/drills/plan.ts';
import { previewOf } from './operations-control.ts';
import { figuresAt, type LossNow } from './operations-figures.ts';

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

/** Everything the drill did until `nowMs` (wall time). */
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
    ...(isOver ? { endedAtMs: startedAtMs + atMs } : {}),
    previews: Object.fromEntries(drill.domains.map((name) => [name, previewOf(plan.mode, 1, [{ from: 0, to: 9900 }])])),
    samples,
    marks: [
      ...steps.filter(({ fromMs }) => fromMs <= atMs).flatMap((step) => marksOf(plan, step)),
      ...(isOver ? [{ atMs, domain: place.domain, kind: 'restored', why: aborted?.why ?? 'finished' } as const] : []),
    ],
    state: isOver ? { kind: 'over' } : { kind: 'running', phase: current?.phase ?? 'baseline', ...place },
    ...(verdict === undefined ? {} : { verdict }),
    learned:
      first === undefined
        ? []
        : drill.domains.map((domain) => ({
            domain,
            baseline: first.figures,
            stages: plan.stages.map((stage, i) => ({
              ...{ stage: i, title: stage.title ?? `stage ${i + 1}`, before: 0.89, lowest: 0.11, end: 0.86 },
              ...{ control: 0.89, refillMs: 4200, peakEngineCallsPerSecond: 190 },
            })),
            survival: {
              headroom: { low: 4, high: 4.5 },
              headroomLeft: { low: 1.3, high: 1.5 },
              amplification: { low: 7.2, high: 8.6 },
              survivable: { low: 0.39, high: 0.57 },
            },
          })),
    ...(drill.resumes === undefined ? {} : { resumes: drill.resumes }),
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
    return { figure, ...(value === undefined ? {} : { value }), broken: value !== undefined && value > max };
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
