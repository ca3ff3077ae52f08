/** Where an answer came from and how long it took. */
export type Source =
  | 'memory'
  | 'store'
  | 'engine'
  | 'shared'
  | 'stale'
  | 'stale-after-failure'
  | 'lifeboat'
  | 'unknown';

export interface Provenance {
  readonly source: Source;
  /** The tiers that took part, the nearest to the reader first. */
  readonly tiers: readonly TierFact[];
  /** The miss reason of the first tier that forwarded the search: one of `MISS_REASONS`. */
  readonly reason?: string;
  /** For a cached answer; negative when it is stale. */
  readonly freshForSeconds?: number;
  /** Measured by the server. */
  readonly serverMs?: number;
  /** The engine's part of that. */
  readonly engineMs?: number;
  /** From sending the search to having read the answer, measured by the browser. */
  readonly totalMs?: number;
}

export interface TierFact {
  readonly tier: 'l1' | 'l2';
  /** `kept`: missed, and stores this answer. */
  readonly did: 'had' | 'had-stale' | 'missed' | 'kept';
}

/** Reads `Cache-Status` and `Server-Timing`. A missing or strange value costs a detail, never the answer. */
export function provenanceOf(cacheStatus: string, serverTiming: string, totalMs?: number): Provenance {
  // The member nearest the origin comes first in the header; the page lists them from the reader's side.
  const tiers = readCacheStatus(cacheStatus).toReversed();
  const { durations, outcome } = readServerTiming(serverTiming);
  return {
    source: outcome === 'lifeboat' ? 'lifeboat' : sourceOf(tiers),
    tiers: tiers.map(factOf),
    reason: tiers.find(({ detail }) => detail !== undefined)?.detail,
    freshForSeconds: tiers.find(({ hit }) => hit)?.ttl,
    serverMs: durations.get('total'),
    engineMs: durations.get('engine'),
    totalMs,
  };
}

type Member = ReturnType<typeof readCacheStatus>[number];

function sourceOf(tiers: readonly Member[]): Source {
  const hit = tiers.find((member) => member.hit);
  if (hit !== undefined) {
    if ((hit.ttl ?? 0) < 0) return 'stale';
    return hit.tier === 'l1' ? 'memory' : 'store';
  }
  if (tiers.some(({ failed }) => failed)) return 'stale-after-failure';
  if (tiers.some(({ collapsed }) => collapsed)) return 'shared';
  return tiers.length === 0 ? 'unknown' : 'engine';
}

function factOf({ tier, hit, stored, failed, forward, ttl }: Member): TierFact {
  if (hit) return { tier, did: (ttl ?? 0) < 0 ? 'had-stale' : 'had' };
  if (failed && forward === 'stale') return { tier, did: 'had-stale' };
  return { tier, did: stored ? 'kept' : 'missed' };
}

/** Reads the part of `Cache-Status` (RFC 9211) that serpcache writes. */
function readCacheStatus(header: string) {
  return header.split(',').flatMap((text) => {
    const { name, values } = membersOf(text);
    if (name !== 'serpcache-l1' && name !== 'serpcache-l2') return [];
    const tier = name === 'serpcache-l1' ? ('l1' as const) : ('l2' as const);
    return [
      {
        tier,
        hit: values.has('hit'),
        stored: values.has('stored'),
        /** Why it forwarded; '' when it did not forward. */
        forward: values.get('fwd') ?? '',
        /** The next tier or the engine answered with an error. */
        failed: Number(values.get('fwd-status') ?? 200) >= 500,
        collapsed: values.has('collapsed'),
        /** Seconds. */
        ttl: values.has('ttl') ? Number(values.get('ttl')) : undefined,
        detail: values.get('detail')?.replaceAll('"', ''),
      },
    ];
  });
}

/** @param header `cache;desc=engine, engine;dur=35.1, total;dur=36.4` @returns durations in milliseconds */
function readServerTiming(header: string): { durations: Map<string, number>; outcome: string | undefined } {
  const durations: Map<string, number> = new Map();
  let outcome: string | undefined;
  for (const text of header.split(',')) {
    const { name, values } = membersOf(text);
    if (name === 'cache') outcome = values.get('desc');
    const duration = Number(values.get('dur'));
    if (Number.isFinite(duration)) durations.set(name, duration);
  }
  return { durations, outcome };
}

/** A member of a list with its parameters: `name; a=1; b`. */
function membersOf(text: string) {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim());
  const values = new Map(
    parameters.map((parameter): [string, string] => {
      const [key = '', ...value] = parameter.split('=');
      return [key, value.join('=')];
    }),
  );
  return { name, values };
}
