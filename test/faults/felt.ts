import type { Bed } from './bed.ts';
import type { Report } from './report.ts';

/** The store's fault: searches asked before were looked for in vain. */
export function missed({ subject, control }: Report): boolean {
  const missing = ({ requests, knownHitRatio }: Report['subject']['fault']): number =>
    requests > 0 ? 1 - knownHitRatio : 0;
  return missing(subject.fault) + missing(subject.after) > missing(control.fault) + missing(control.after) + 0.02;
}

/** The engine's fault: searches nobody asked before were refused. */
export function refused({ subject }: Report): boolean {
  return subject.fault.unanswered > 0;
}

/** Proxies that answer in the store's place did. */
export function answeredByProxies(_report: Report, bed: Bed): boolean {
  return bed.store().resp.every((proxy) => proxy.answered() > 0);
}

export function reconnected({ connectionsOpened }: Report): boolean {
  return (connectionsOpened ?? 0) > 0;
}

/** Lookups missed for this reason. */
export function missedFor(reason: string): (report: Report, bed: Bed) => Promise<boolean> {
  return async (_report, bed) => (await bed.subject.metric('serpcache_misses_total', { reason })) > 0;
}
