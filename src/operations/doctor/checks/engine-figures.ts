import type { Window } from '../check.ts';
import { type EngineFacts, known, type ServerFacts } from '../facts.ts';
import { type EngineView, enginesOf, hostPartOf, isAt, numberOf, portPartOf, whyMissing } from '../window.ts';

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
  return numberOf(known(engine?.status)?.[field]);
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

/** One search server with the indexes of it that domains use. */
export interface SharedEngine {
  /** `engine 127.0.0.1:9306`. */
  readonly subject: string;
  readonly views: readonly EngineView[];
  /** Permits by domain: each endpoint of a domain gets an equal share of the domain's. */
  readonly permits: ReadonlyMap<string, number>;
}

export function sharedEnginesOf(window: Window): readonly SharedEngine[] {
  const servers = Map.groupBy(searchServersOf(window), ({ now }) => now.endpoint);
  const endpointsOf = (domain: string): number =>
    [...servers.values()].filter((views) => views.some(({ now }) => now.domains.includes(domain))).length;
  return [...servers].map(([endpoint, views]) => {
    const shares = views.flatMap(({ now: { domains, settings } }) =>
      domains.map((domain) => [domain, Math.ceil(settings.maxConcurrent / endpointsOf(domain))] as const),
    );
    return { subject: `engine ${endpoint}`, views, permits: new Map(shares) };
  });
}

/** `goods 32, jobs 16` */
export function permitsText(permits: SharedEngine['permits']): string {
  return [...permits].map(([domain, share]) => `${domain} ${share}`).join(', ');
}

export function permitsSum(permits: SharedEngine['permits']): number {
  return [...permits.values()].reduce((sum, share) => sum + share, 0);
}
