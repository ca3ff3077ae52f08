import type { Window } from '../check.ts';
import { type EngineFacts, known, type ServerFacts } from '../facts.ts';
import { type EngineView, enginesOf, fieldNumber, hostPartOf, isAt, portPartOf, whyMissing } from '../window.ts';

/** Readings of search servers that several checks share. */

/** Engines that are servers: an embedded one has no connections and no counters. */
export function searchServersOf(window: Window): readonly EngineView[] {
  return enginesOf(window).filter(({ now }) => now.kind !== 'sqlite');
}

/** Whether both readings are of one run of the server. */
export function isSameRun({ now, before }: EngineView): boolean {
  const [uptime, earlier] = [level(now, 'uptime'), level(before, 'uptime')];
  return uptime !== undefined && earlier !== undefined && earlier <= uptime;
}

/** Growth of a counter of SHOW STATUS in the window; undefined without two readings of one run, or when it is no number. */
export function statusGrown(view: EngineView, field: string): number | undefined {
  if (!isSameRun(view)) return undefined;
  const [last, first] = [level(view.now, field), level(view.before, field)];
  return last !== undefined && first !== undefined && last >= first ? last - first : undefined;
}

/** A field as a number; undefined when it is missing or `OFF`. */
function level(engine: EngineFacts | undefined, field: string): number | undefined {
  return fieldNumber(known(engine?.status)?.[field]);
}

/** The server is there, and it has no connection left for the doctor. */
export function refusesConnections({ status, version }: EngineFacts): boolean {
  return known(version) === undefined && /maxed out|too many conn/i.test(whyMissing(status));
}

/** `mysql -h 127.0.0.1 -P 9306 -e 'SHOW THREADS'` */
export function mysql({ endpoint }: Pick<EngineFacts, 'endpoint'>, statement: string): string {
  return `mysql -h ${hostPartOf(endpoint)} -P ${portPartOf(endpoint)} -e '${statement}'`;
}

/** The searchd processes of seen hosts that listen at the endpoint. */
export function searchdsAt({ after }: Window, { endpoint }: Pick<EngineFacts, 'endpoint'>): readonly ServerFacts[] {
  const port = Number(portPartOf(endpoint));
  return after.hosts
    .filter((one) => isAt(hostPartOf(endpoint), one))
    .flatMap(({ servers }) => known(servers) ?? [])
    .filter((server) => server.program === 'searchd' && server.port === port);
}
