import type { Caller, Control } from '../../src/control/control.ts';
import type { Placement, Shadow, StoreRef } from '../../src/control/document.ts';
import { OperationError } from '../../src/control/operation-error.ts';
import type { Shadows } from '../../src/operations/shadow/create-shadows.ts';
import {
  type Moved,
  reportSummary,
  type ShadowReport,
  type ShadowStatus,
  type ShadowSummary,
} from '../../src/operations/shadow/shadow.ts';
import { judge } from '../../src/operations/shadow/verdict.ts';
import type { Clock } from '../../src/runtime.ts';
import { betweenOf, type Copied, samplesOf } from '../operations/shadow/report-fixture.ts';

const storeRef = (name: string): StoreRef => ({ name, fingerprint: `${name}AbCdEfGhIjKlMnOp`.slice(0, 16) });

const MAIN = storeRef('main');
/** The first is as fast as the primary, the second is slow. */
const CANDIDATES = [storeRef('valkey'), storeRef('keydb')];
const PROCESSES = [
  { id: 'replica-1', state: 'ok' },
  { id: 'replica-2', state: 'ok' },
] as const;

/** The first domain has a shadow of this age from the start. */
const RUNNING_MS = 12 * 60_000;
const DEFAULT_FOR_MS = 600_000;

interface Place {
  readonly domain: string;
  shadow: Shadow | undefined;
  changes: readonly Copied[];
  placement: Placement | undefined;
}

/**
 * Shadows that follow the clock only: every call computes the figures up to now. The first domain has a running shadow to
 * `valkey` and one report; the others have candidates only. The verdict on `valkey` is favourable after some minutes, the
 * verdict on `keydb` is not.
 */
export function createFakeShadows(options: {
  readonly clock: Clock;
  readonly domains?: readonly string[];
  /** A halt ends every shadow. */
  readonly controls?: ReadonlyMap<string, Control>;
}): Shadows {
  const { clock, domains = ['goods', 'auto'], controls = new Map() } = options;
  const reports: ShadowReport[] = [];
  const places = new Map(
    domains.map((domain): [string, Place] => [
      domain,
      { domain, shadow: undefined, changes: [], placement: undefined },
    ]),
  );
  let made = 0;

  const begin = (place: Place, name: string, fraction: number, reads: number, by: string, atMs: number): void => {
    const candidate = CANDIDATES.find((each) => each.name === name);
    if (candidate === undefined) {
      const known = CANDIDATES.map((each) => each.name).join(', ');
      throw new OperationError('unknown-candidate', `There is no candidate ${name}; there are ${known}.`, '/candidate');
    }
    const stamp = new Date(atMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
    const id = `${stamp}-${place.domain}-${name}-x${made++}`;
    place.shadow = { id, candidate, fraction, reads, by, atMs, untilMs: atMs + 24 * 3_600_000 };
    place.changes = [{ atMs: 0, fraction, reads }];
  };
  const end = (place: Place, ended: string, endedAtMs = clock.wallMs()): string | undefined => {
    const { domain, shadow, changes } = place;
    if (shadow === undefined) return undefined;
    const { id, candidate, by, atMs } = shadow;
    const lastedMs = endedAtMs - atMs;
    const { samples, total, between } = curvesOf(place, shadow, endedAtMs);
    const forMs = Math.min(DEFAULT_FOR_MS, lastedMs);
    reports.unshift({
      id,
      domain,
      primary: MAIN,
      candidate,
      by,
      startedAtMs: atMs,
      endedAtMs,
      ended,
      changes,
      samples,
      total,
      verdict: judge({ samples, total, wrongKeys: [], between, forMs, nowMs: lastedMs }),
      wrongKeys: [],
    });
    place.shadow = undefined;
    return id;
  };
  const find = (domain: string): Place => {
    const place = places.get(domain);
    if (place === undefined) {
      const known = domains.join(', ');
      throw new OperationError('unknown-domain', `There is no domain ${domain}; there are ${known}.`, '/domain');
    }
    const { shadow } = place;
    if (controls.get(domain)?.document().halted !== undefined) end(place, 'halted');
    if (shadow !== undefined && shadow.untilMs <= clock.wallMs()) end(place, 'expired', shadow.untilMs);
    return place;
  };
  const running = (place: Place): Shadow => {
    if (place.shadow !== undefined) return place.shadow;
    throw new OperationError('no-shadow', `No shadow runs in ${place.domain}.`);
  };

  const judgedNow = (place: Place, shadow: Shadow, forMs: number) => {
    const { samples, total, between } = curvesOf(place, shadow, clock.wallMs());
    const elapsedMs = clock.wallMs() - shadow.atMs;
    const recordedMs = samples.at(-1)?.atMs ?? 0;
    const figures = between(recordedMs - forMs, recordedMs);
    return {
      elapsedMs,
      figures,
      verdict: judge({ samples, total, wrongKeys: [], between, forMs, nowMs: elapsedMs }),
    };
  };

  const summaryOf = (name: string): ShadowSummary => {
    const { domain, shadow, placement } = find(name);
    return {
      domain,
      configured: MAIN,
      candidates: CANDIDATES,
      active: placement?.active ?? MAIN,
      paused: false,
      shadow,
      placement,
    };
  };
  const status = async (domain: string, forMs = DEFAULT_FOR_MS): Promise<ShadowStatus> => {
    const summary = summaryOf(domain);
    const { active } = summary;
    const place = find(domain);
    const rest = {
      processes: PROCESSES,
      wrongKeys: [],
      configuration: active.name === MAIN.name ? undefined : configurationOf(domain, active),
    };
    if (place.shadow === undefined) return { ...summary, ...rest };
    return { ...summary, ...rest, ...judgedNow(place, place.shadow, forMs) };
  };
  const moveTo = (place: Place, from: StoreRef, to: StoreRef, { by }: Caller): Moved => {
    const { domain } = place;
    const id = `move-${made++}`;
    place.placement = { id, phase: 'committed', active: to, other: from, by, atMs: clock.wallMs() };
    const configuration = configurationOf(domain, to);
    return { domain, from, to, preparedMs: 480, processes: PROCESSES, configuration };
  };
  const reportOf = (id: string): ShadowReport => {
    const report = reports.find((each) => each.id === id);
    if (report === undefined) throw new OperationError('unknown-report', `There is no report ${id}.`);
    return report;
  };

  const first = places.values().next().value;
  if (first !== undefined) {
    const nowMs = clock.wallMs();
    begin(first, 'keydb', 0.05, 1, 'ana from 127.0.0.1', nowMs - 25 * 3_600_000);
    end(first, 'stopped by ana from 127.0.0.1', nowMs - 24.5 * 3_600_000);
    begin(first, 'valkey', 0.1, 1, 'ana from 127.0.0.1', nowMs - RUNNING_MS);
  }

  return {
    list: () => domains.map(summaryOf),
    status,
    samples: (domain) => {
      const place = find(domain);
      return place.shadow === undefined ? [] : curvesOf(place, place.shadow, clock.wallMs()).samples;
    },
    start: async ({ domain, candidate, fraction, reads, forMs }, { by }) => {
      const place = find(domain);
      if (controls.get(domain)?.document().halted !== undefined) {
        throw new OperationError('halted', 'Drills and shadows are halted; lift the halt first.');
      }
      if (place.shadow !== undefined) {
        throw new OperationError('shadow-running', `Shadow ${place.shadow.id} runs in ${domain}.`);
      }
      if (place.placement?.phase === 'committed') {
        throw new OperationError('cut-over-running', `A cut-over is under way in ${domain}.`);
      }
      const atMs = clock.wallMs();
      begin(place, candidate, fraction, reads, by, atMs);
      place.shadow = { ...running(place), untilMs: atMs + forMs };
      return status(domain);
    },
    change: async ({ domain, ...change }) => {
      const place = find(domain);
      const { fraction, reads, atMs } = { ...running(place), ...change };
      place.shadow = { ...running(place), fraction, reads };
      place.changes = [...place.changes, { atMs: clock.wallMs() - atMs, fraction, reads }];
      return status(domain);
    },
    stop: async (domain, { by }) => {
      const place = find(domain);
      const { placement } = place;
      const report = end(place, `stopped by ${by}`);
      if (report !== undefined) return { domain, ended: 'shadow', report };
      if (placement?.other === undefined) throw new OperationError('no-shadow', `No shadow runs in ${domain}.`);
      const { other: _, ...settled } = placement;
      place.placement = { ...settled, phase: 'settled' };
      return { domain, ended: 'old-store', configuration: configurationOf(domain, placement.active) };
    },
    cutOver: async ({ domain, force, forMs }, caller) => {
      const place = find(domain);
      const shadow = running(place);
      const { kind, why } = judgedNow(place, shadow, forMs).verdict;
      if (kind !== 'cut-over' && !force) throw new OperationError('no-verdict', why);
      const report = end(place, 'cut-over');
      return { ...moveTo(place, MAIN, shadow.candidate, caller), report };
    },
    back: async (domain, caller) => {
      const place = find(domain);
      const { active, other } = place.placement ?? {};
      if (active === undefined || other === undefined) {
        throw new OperationError('no-cut-over', `There is no cut-over to reverse in ${domain}.`);
      }
      return moveTo(place, active, other, caller);
    },
    reports: async () => reports.map(reportSummary),
    report: async (id) => reportOf(id),
    page: async (id) => {
      const title = `Shadow ${reportOf(id).id}`;
      return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1></html>`;
    },
    close: async () => {},
  };
}

function configurationOf(domain: string, { name }: StoreRef): string {
  return `domains:\n  - name: ${domain}\n    store: ${name}\n`;
}

/** The recorded curves up to `nowMs` (wall time). The candidate fills within a minute; `keydb` is three times as slow. */
function curvesOf({ changes }: Place, { candidate, atMs }: Shadow, nowMs: number) {
  const samples = samplesOf({
    lengthMs: nowMs - atMs,
    changes,
    fullAt: (sinceMs) => 1 - Math.exp(-sinceMs / 14_000),
    p99Ms: { primary: 1.4, candidate: candidate.name === 'keydb' ? 4.2 : 1.4 },
    noise: 0.1,
  });
  const between = betweenOf(samples);
  return { samples, between, total: between(0, nowMs - atMs) };
}
