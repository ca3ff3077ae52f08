import { OUTCOMES } from '../../../src/search/outcome.ts';

/** How a search ended, as its client saw it: the outcomes of the service, and two that only a client knows. */
export const SEEN_OUTCOMES = [
  // A client that went away saw no outcome.
  ...OUTCOMES.filter((outcome) => outcome !== 'aborted'),
  /** No answer at all: refused, broken or hung connections. */
  'unanswered',
  /** An answer without an outcome: another server sent it, or a proxy removed the headers. */
  'unknown',
] as const;

export type SeenOutcome = (typeof SEEN_OUTCOMES)[number];

/** The name of the metric that counts the outcome: k6 allows letters, digits and underscores only. */
export function metricOf(outcome: SeenOutcome): string {
  return `outcome_${outcome.replaceAll('-', '_')}`;
}

/** An answer as k6 has it: header names in canonical case; status 0 if there was no answer. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const KNOWN: ReadonlySet<string> = new Set(SEEN_OUTCOMES);
const TIMING = /\bcache;desc="?([a-z0-9-]+)/;

/** From `Server-Timing`; where a proxy removed it, status and `Cache-Status` give the same outcome. */
export function outcomeOf({ status, headers }: Reply): SeenOutcome {
  if (status === 0) return 'unanswered';
  const said = TIMING.exec(headers['Server-Timing'] ?? '')?.[1];
  if (said !== undefined && KNOWN.has(said)) return said as SeenOutcome;
  if (status === 503 && headers['Retry-After'] !== undefined) return 'shed';
  if (status >= 500) return 'failed';
  if (status >= 400) return 'rejected';
  const ours = parseCacheStatus(headers['Cache-Status'])?.filter(({ cache }) => cache.startsWith('serpcache-')) ?? [];
  if (ours.length === 0) return 'unknown';
  if (ours.some(({ parameters }) => parameters['fwd'] === 'stale')) return 'stale';
  const hit = ours.find(({ parameters }) => parameters['hit'] !== undefined);
  if (hit === undefined) return ours.some(({ parameters }) => 'collapsed' in parameters) ? 'collapsed' : 'engine';
  if (Number(hit.parameters['ttl'] ?? 0) < 0) return 'stale';
  return hit.cache === 'serpcache-l2' ? 'hit-l2' : 'hit-l1';
}

/** A refusal that a client can act on: 503, the time to retry, and the reason as a problem document. */
export function isHonestShed({ status, headers }: Reply): boolean {
  const type = headers['Content-Type'] ?? '';
  return status === 503 && /^\d+$/.test(headers['Retry-After'] ?? '') && type.startsWith('application/problem+json');
}

/** One cache's part in an answer. Values are text: `ttl` → `287`; a parameter without a value is ``. */
interface CacheMember {
  readonly cache: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const TOKEN = /^[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*$/;
const PARAMETER =
  /^([a-z*][a-z0-9_.*-]*)(?:=("(?:[^"\\]|\\.)*"|\?[01]|-?\d+(?:\.\d+)?|[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*))?$/;

/** Parses the field of RFC 9211; undefined if it is malformed. Commas and semicolons inside strings are not supported. */
export function parseCacheStatus(field: string | undefined): readonly CacheMember[] | undefined {
  if (field === undefined || field === '') return undefined;
  const members: CacheMember[] = [];
  for (const text of field.split(',')) {
    const [cache = '', ...rest] = text.split(';').map((part) => part.trim());
    if (!TOKEN.test(cache)) return undefined;
    const parameters: Record<string, string> = {};
    for (const one of rest) {
      const [, name, value = ''] = PARAMETER.exec(one) ?? [];
      if (name === undefined) return undefined;
      parameters[name] = value;
    }
    members.push({ cache, parameters });
  }
  return members;
}
