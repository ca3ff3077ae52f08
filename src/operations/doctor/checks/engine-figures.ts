import type { Window } from '../check.ts';
import { type EngineFacts, known, type ServerFacts } from '../facts.ts';
import { type EngineView, enginesOf, isAt, reasonOf } from '../window.ts';

/** Readings of search servers that several checks share. */

export const NO_PAIR = 'no two readings of one run';

/** Engines that are servers: an embedded one has no connections and no counters. */
export function serversOf(window: Window): readonly EngineView[] {
  return enginesOf(window).filter(({ now }) => now.kind !== 'sqlite');
}

/** Whether both readings are of one run of the server. */
export function isSameRun({ now, before }: EngineView): boolean {
  const [uptime, earlier] = [level(now, 'uptime'), before === undefined ? undefined : level(before, 'uptime')];
  return uptime !== undefined && earlier !== undefined && earlier <= uptime;
}

/** Growth of a counter of SHOW STATUS in the window; undefined without two readings of one run, or when it is no number. */
export function grown(view: EngineView, field: string): number | undefined {
  const { now, before } = view;
  if (before === undefined || !isSameRun(view)) return undefined;
  const [last, first] = [level(now, field), level(before, field)];
  return last !== undefined && first !== undefined && last >= first ? last - first : undefined;
}

/** A field as a number; undefined when it is missing or `OFF`. */
function level({ status }: EngineFacts, field: string): number | undefined {
  const text = known(status)?.[field];
  const value = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** The server is there, and it has no connection left for the doctor. */
export function isRefused({ status, version }: EngineFacts): boolean {
  return known(version) === undefined && /maxed out|too many conn/i.test(reasonOf(status));
}

/** `mysql -h 127.0.0.1 -P 9306 -e 'SHOW THREADS'` */
export function mysql({ endpoint }: Pick<EngineFacts, 'endpoint'>, statement: string): string {
  const at = endpoint.lastIndexOf(':');
  return `mysql -h ${endpoint.slice(0, at)} -P ${endpoint.slice(at + 1)} -e '${statement}'`;
}

/** The searchd processes of seen hosts that listen at the endpoint. */
export function searchdsAt({ after }: Window, { endpoint }: Pick<EngineFacts, 'endpoint'>): readonly ServerFacts[] {
  const at = endpoint.lastIndexOf(':');
  const [host, port] = [endpoint.slice(0, at), Number(endpoint.slice(at + 1))];
  return after.hosts
    .filter((one) => isAt(host, one))
    .flatMap(({ servers }) => known(servers) ?? [])
    .filter((server) => server.program === 'searchd' && server.port === port);
}
