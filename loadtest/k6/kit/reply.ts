import { type CacheMember, parseCacheStatus } from './cache-status.ts';
import { SEEN_OUTCOMES, type SeenOutcome } from './outcome.ts';

/** What came back, as k6 has it: header names in canonical case; status 0 when nothing did. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

const KNOWN: ReadonlySet<string> = new Set(SEEN_OUTCOMES);
const TIMING = /\bcache;desc="?([a-z0-9-]+)/;

/** The service says it in `Server-Timing`; where a proxy removed that, status and `Cache-Status` tell the same. */
export function outcomeOf({ status, headers }: Reply): SeenOutcome {
  if (status === 0) return 'unanswered';
  const said = TIMING.exec(headers['Server-Timing'] ?? '')?.[1];
  if (said !== undefined && KNOWN.has(said)) return said as SeenOutcome;
  if (status === 503 && headers['Retry-After'] !== undefined) return 'shed';
  if (status >= 500) return 'failed';
  if (status >= 400) return 'rejected';
  return ofMembers(parseCacheStatus(headers['Cache-Status']));
}

function ofMembers(members: readonly CacheMember[] | undefined): SeenOutcome {
  const ours = members?.filter(({ cache }) => cache.startsWith('serpcache-'));
  if (ours === undefined || ours.length === 0) return 'unknown';
  const has = (name: string): boolean => ours.some(({ parameters }) => parameters[name] !== undefined);
  if (ours.some(({ parameters }) => parameters['fwd'] === 'stale')) return 'stale';
  const hit = ours.find(({ parameters }) => parameters['hit'] !== undefined);
  if (hit !== undefined) {
    if (Number(hit.parameters['ttl'] ?? 0) < 0) return 'stale';
    return hit.cache === 'serpcache-l2' ? 'hit-l2' : 'hit-l1';
  }
  return has('collapsed') ? 'collapsed' : 'engine';
}

/** A refusal a client can act on: 503, when to come again, and why, in the one shape all problems have. */
export function isHonestShed({ status, headers }: Reply): boolean {
  const type = headers['Content-Type'] ?? '';
  return status === 503 && /^\d+$/.test(headers['Retry-After'] ?? '') && type.startsWith('application/problem+json');
}
