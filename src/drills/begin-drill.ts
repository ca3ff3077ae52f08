import { BUCKETS } from '../cache/rules.ts';
import type { Clock } from '../clock.ts';
import { OperationRefused } from '../control/refusal.ts';
import type { FlushPreview } from '../flush/flush.ts';
import type { Archive } from './archive.ts';
import { createCircle, nodesLostBy } from './circle.ts';
import type { DrillDomain } from './drill-domain.ts';
import { drillId } from './drill-id.ts';
import { createDrillNews } from './drill-news.ts';
import type { Caller, DrillEvent } from './drills.ts';
import { createGrip } from './grip.ts';
import { createJournalBook } from './journal-book.ts';
import type { Sleep } from './pace.ts';
import type { Plan } from './plan.ts';
import { previewStage } from './preview-stages.ts';
import type { ResumePoint } from './resume-point.ts';
import { type DrillPart, type RunningDrill, runDrill } from './run-drill.ts';
import type { Settled } from './settle-ask.ts';

export interface BeginOptions {
  readonly archive: Archive;
  readonly processId: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: DrillEvent) => void;
  readonly leaseMs: number;
  readonly tickMs: number;
  readonly sleep: Sleep;
}

/** Takes the first domain and sets the drill going. @throws OperationRefused, and then nothing has changed */
export async function beginDrill(
  { plan, domains }: Settled,
  caller: Caller,
  from: ResumePoint | undefined,
  options: BeginOptions,
): Promise<RunningDrill> {
  const { archive, processId, clock, random, observe, leaseMs, tickMs, sleep } = options;
  if (caller.reason.trim() === '') {
    throw new OperationRefused('reason-required', 'A drill needs a reason: who reads its report will ask.', '/reason');
  }
  for (const domain of domains) await refuseNow(domain);
  const offset = from?.offset ?? Math.floor(random() * BUCKETS);
  const previews = await lastPreviews(plan, domains, offset);
  const [first] = domains;
  const startedAtMs = clock.wallMs();
  const id = drillId({ plan, domain: first.name, wallMs: startedAtMs, random });

  const parts = domains.map((domain, place): DrillPart => {
    const nodes = domain.nodes();
    const circle = createCircle(plan, offset, nodes.length);
    const { cohorts } = circle;
    const overlay = { drill: id, owner: processId, leaseMs, mode: plan.mode, cohorts };
    const flushed =
      place > 0 || from?.ranges === undefined
        ? undefined
        : { ranges: from.ranges, nodes: nodesLostBy(plan.stages, from.flushedStage ?? 0, nodes) };
    return {
      domain,
      circle,
      grip: createGrip({ control: domain.control, overlay, flushed, nowMs: clock.monotonicMs, sleep }),
    };
  });
  await parts[0]?.grip.take();

  const firstStage = from?.stage ?? 0;
  const book = createJournalBook({
    id,
    plan,
    domains: domains.map(({ name }) => name),
    reason: caller.reason,
    by: caller.by,
    owner: processId,
    startedAtMs,
    previews,
    state: { kind: 'running', phase: 'baseline', domain: first.name, stage: firstStage },
    offset,
    ...(from === undefined ? {} : { resumes: from.id }),
  });
  observe({ kind: 'drill-started', id, plan: plan.name, domains: domains.map(({ name }) => name), by: caller.by });
  const news = createDrillNews({ book, archive, clock });
  const drill = runDrill({ book, parts, firstStage, clock, tickMs, sleep, observe, ...news });
  // Whoever reads the list right after the start finds it, also after a crash.
  await archive.write(drill.journal());
  return drill;
}

/**
 * Told before anything is counted or taken; the document itself is judged once more when it is taken. What speaks against
 * it may have ended elsewhere since this process last looked: so it looks again before it says no.
 */
async function refuseNow(domain: DrillDomain): Promise<void> {
  if (objectionIn(domain) !== undefined) await domain.control.change((document) => document);
  const objection = objectionIn(domain);
  if (objection !== undefined) throw objection;
}

function objectionIn({ name, control }: DrillDomain): OperationRefused | undefined {
  const { halted } = control.document();
  if (halted !== undefined) {
    return new OperationRefused('halted', `Drills are halted by ${halted.by}: ${halted.reason}. Lift the halt first.`);
  }
  const overlay = control.overlay();
  if (overlay === undefined) return undefined;
  return new OperationRefused('drill-running', `Drill ${overlay.drill} runs in ${name}, owned by ${overlay.owner}.`);
}

/** Of the last stage that flushes. A store that cannot be counted now keeps nobody from rehearsing its loss. */
async function lastPreviews(
  plan: Plan,
  domains: readonly DrillDomain[],
  offset: number,
): Promise<Readonly<Record<string, FlushPreview>>> {
  const stage = plan.stages.length - 1;
  const all = await Promise.all(
    domains.map(async (domain): Promise<readonly [string, FlushPreview][]> => {
      try {
        return [[domain.name, (await previewStage(plan, stage, domain, offset)).preview]];
      } catch (error) {
        if (error instanceof OperationRefused && error.code !== 'control-unavailable') throw error;
        return [];
      }
    }),
  );
  return Object.fromEntries(all.flat());
}
