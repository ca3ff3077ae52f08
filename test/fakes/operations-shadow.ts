import type { Caller, Control } from '../../src/control/control.ts';
import type { Placement, Shadow, StoreRef } from '../../src/control/document.ts';
import { OperationError } from '../../src/control/operation-error.ts';
import type {
  Criterion,
  Servers,
  ShadowFigures,
  ShadowSample,
  ShadowVerdict,
  Side,
} from '../../src/operations/shadow/figures.ts';
import type {
  Moved,
  ReportSummary,
  ShadowReport,
  ShadowStatus,
  ShadowSummary,
  Shadows,
} from '../../src/operations/shadow/shadow.ts';
import { type Clock, seededRandom } from '../../src/runtime.ts';

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
const SAMPLE_MS = 2000;
const DEFAULT_FOR_MS = 600_000;

interface Place {
  readonly domain: string;
  shadow: Shadow | undefined;
  changes: { readonly atMs: number; readonly fraction: number; readonly reads: number }[];
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
    const forMs = Math.min(DEFAULT_FOR_MS, endedAtMs - atMs);
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
      samples: samplesOf(shadow, endedAtMs),
      total: between(shadow, 0, endedAtMs - atMs),
      verdict: verdictOf(shadow, endedAtMs - atMs, forMs),
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
    const { shadow, active } = summary;
    const rest = {
      processes: PROCESSES,
      wrongKeys: [],
      configuration: active.name === MAIN.name ? undefined : configurationOf(domain, active),
    };
    if (shadow === undefined) return { ...summary, ...rest };
    const elapsedMs = clock.wallMs() - shadow.atMs;
    return {
      ...summary,
      ...rest,
      elapsedMs,
      figures: between(shadow, Math.max(0, elapsedMs - forMs), elapsedMs),
      verdict: verdictOf(shadow, elapsedMs, forMs),
    };
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
    samples: (domain, from = 0) => {
      const { shadow } = find(domain);
      return shadow === undefined ? [] : samplesOf(shadow, clock.wallMs()).slice(from);
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
      const { candidate, atMs } = running(place);
      const { kind, why } = verdictOf(running(place), clock.wallMs() - atMs, forMs);
      if (kind !== 'cut-over' && !force) throw new OperationError('no-verdict', why);
      const report = end(place, 'cut-over');
      return { ...moveTo(place, MAIN, candidate, caller), report };
    },
    back: async (domain, caller) => {
      const place = find(domain);
      const { active, other } = place.placement ?? {};
      if (active === undefined || other === undefined) {
        throw new OperationError('no-cut-over', `There is no cut-over to reverse in ${domain}.`);
      }
      return moveTo(place, active, other, caller);
    },
    reports: async () =>
      reports.map(({ samples: _, total: _total, changes: _changes, wrongKeys: _keys, ...rest }): ReportSummary => rest),
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

function samplesOf(shadow: Shadow, nowMs: number): readonly ShadowSample[] {
  return Array.from({ length: Math.floor((nowMs - shadow.atMs) / SAMPLE_MS) }, (_, i) => {
    const atMs = (i + 1) * SAMPLE_MS;
    return { atMs, figures: between(shadow, atMs - SAMPLE_MS, atMs) };
  });
}

const READS_PER_SECOND = 420;
const HIT_RATIO = 0.89;
/** The candidate fills exponentially. */
const FILL_MS = 45_000;

/** The figures between two times since the start. */
function between({ candidate, fraction, reads }: Shadow, fromMs: number, toMs: number): ShadowFigures {
  const seconds = Math.max(0.001, (toMs - fromMs) / 1000);
  const random = seededRandom(Math.round(toMs));
  const noise = (value: number, part: number): number => value * (1 + (random() - 0.5) * part);
  const compared = Math.round(noise(READS_PER_SECOND * fraction * seconds, 0.1));
  // The mean of 1 − e^(−t / FILL_MS).
  const filled = 1 - (FILL_MS * (Math.exp(-fromMs / FILL_MS) - Math.exp(-toMs / FILL_MS))) / (seconds * 1000);
  const slow = candidate.name === 'keydb' ? 3 : 1;
  const hitRatio = Math.min(0.99, noise(HIT_RATIO, 0.02));
  const writes = Math.round(compared * (1 - hitRatio));
  const measured = (ratio: number, factor: number) => ({
    hitRatio: ratio,
    errorRate: 0,
    p50Ms: noise(0.3, 0.2),
    p95Ms: noise(0.7 * factor, 0.2),
    p99Ms: noise(1.4 * factor, 0.1),
  });
  const side = (ratio: number, copies: number, factor: number): Side => ({
    reads: compared * copies,
    readsPerSecond: (compared * copies) / seconds,
    compared,
    hits: Math.round(compared * ratio),
    writes,
    errors: { 'store-slow': 0, 'store-down': 0, 'node-open': 0, 'store-saturated': 0, refused: 0 },
    ...(compared === 0 ? {} : measured(ratio, factor)),
    servers: serversAt(compared * copies, seconds, fraction, noise),
  });
  const candidateRatio = hitRatio * filled;
  const missing = Math.round(compared * (hitRatio - candidateRatio));
  const older = Math.round(compared * 0.004);
  return {
    seconds,
    processes: PROCESSES.length,
    primary: side(hitRatio, 1, 1),
    candidate: side(candidateRatio, reads, slow),
    agreement: {
      compared,
      equal: Math.max(0, compared - missing - older),
      older,
      newer: 0,
      wrong: 0,
      missing,
      surplus: 0,
      lifeSamples: Math.round(compared / 32),
      lifeDriftMs: noise(12, 0.4),
      lifeDriftMaxMs: noise(80, 0.4),
    },
    copying: { sampled: compared + writes, sent: compared * reads + writes, dropped: 0, paused: 0, filled: missing },
  };
}

function serversAt(
  reads: number,
  seconds: number,
  fraction: number,
  noise: (value: number, part: number) => number,
): Servers {
  const perSecond = reads / seconds;
  return {
    nodes: 3,
    missing: 0,
    connections: 18,
    memoryBytes: Math.round(noise(180e6 * fraction + 9e6, 0.02)),
    maxMemoryBytes: 3 * 2 ** 30,
    evictedPerSecond: 0,
    expiredPerSecond: noise(1.5 * fraction, 0.3),
    bytesInPerSecond: perSecond * 160,
    bytesOutPerSecond: perSecond * 3400,
    cpu: noise(0.02 + perSecond / 9e4, 0.1),
  };
}

const MIN_COMPARED = 1000;

function verdictOf(shadow: Shadow, elapsedMs: number, forMs: number): ShadowVerdict {
  // Without the first fifth, in which the candidate fills.
  const { primary, candidate, agreement } = between(shadow, elapsedMs - Math.min(forMs, 0.8 * elapsedMs), elapsedMs);
  const judge = (name: Criterion['name'], what: string, value: number, max: number): Criterion => ({
    name,
    what,
    value,
    bound: max,
    met: agreement.compared < MIN_COMPARED ? 'not-measured' : value <= max ? 'yes' : 'no',
  });
  const least = (name: Criterion['name'], what: string, value: number, min: number): Criterion => ({
    name,
    what,
    value,
    bound: min,
    met: value >= min ? 'yes' : 'not-measured',
  });
  const points = 100 * ((primary.hitRatio ?? 0) - (candidate.hitRatio ?? 0));
  const factor = (candidate.p99Ms ?? 0) / (primary.p99Ms ?? 1);
  const criteria = [
    least('duration', `${Math.round(elapsedMs / 1000)} s are recorded of ${forMs / 1000} s`, elapsedMs, forMs),
    least('volume', `${agreement.compared} reads of at least ${MIN_COMPARED}`, agreement.compared, MIN_COMPARED),
    judge('hit-ratio', `the candidate is ${points.toFixed(1)} points behind, at most 2`, points, 2),
    judge('latency', `its p99 is ${factor.toFixed(1)} times the primary's, at most 1.5`, factor, 1.5),
    judge('errors', 'no errors, at most 0.1 %', candidate.errorRate ?? 0, 0.001),
    judge('values', `${agreement.wrong} wrong values, none allowed`, agreement.wrong, 0),
  ];
  const missed = criteria.filter(({ met }) => met === 'no');
  const open = criteria.filter(({ met }) => met === 'not-measured');
  const why = (missed.length > 0 ? missed : open).map(({ what }) => what).join('; ');
  if (missed.length > 0) return { kind: 'do-not', why: `Missed: ${why}.`, criteria };
  if (open.length > 0) return { kind: 'undecided', why: `Not measured yet: ${why}.`, criteria };
  return { kind: 'cut-over', why: 'Every criterion is met.', criteria };
}
