import type { OverlayRange } from '../control/document.ts';
import { OperationRefused } from '../control/refusal.ts';
import type { Journal } from './journal.ts';

/** Where a stopped drill is taken up again. */
export interface ResumePoint {
  readonly id: string;
  readonly stage: number;
  readonly offset: number | undefined;
  /** What it had flushed of its domain, each range with its floor; undefined: nothing yet. */
  readonly ranges: readonly OverlayRange[] | undefined;
  /** The last stage that began. */
  readonly flushedStage: number | undefined;
}

/** Also the domains still to be drilled. @throws OperationRefused drill-running, drill-over */
export function resumePoint(journal: Journal): { readonly point: ResumePoint; readonly domains: readonly string[] } {
  const { id, verdict, state, marks, domains, offset } = journal;
  if (state.kind !== 'over') throw new OperationRefused('drill-running', `Drill ${id} still runs.`);
  const resumable = verdict?.resumable;
  if (resumable === undefined) {
    throw new OperationRefused('drill-over', `Drill ${id} ended (${verdict?.kind}) with nothing left to go on with.`);
  }
  const { domain, stage } = resumable;
  const last = marks.flatMap((mark) => (mark.kind === 'stage' && mark.domain === domain ? [mark] : [])).at(-1);
  return {
    point: { id, stage, offset, ranges: last?.ranges, flushedStage: last?.stage },
    domains: domains.slice(Math.max(0, domains.indexOf(domain))),
  };
}
