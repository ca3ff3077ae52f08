import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type ComposedDomain, composeDomain } from './compose-domain.ts';
import { composeDomainOperations, composeOperations } from './compose-operations.ts';
import { listenFault } from './config/faults.ts';
import type { Settings } from './config/settings.ts';
import { summaryOf } from './control/control.ts';
import { createAdminServer } from './http/admin/admin-server.ts';
import type { RequestEvent } from './http/events.ts';
import { createPublicServer } from './http/search-api/public-server.ts';
import { createEventLog } from './metrics/event-log.ts';
import type { ServiceEvent } from './metrics/events.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createAudit } from './operations/audit/audit.ts';
import type { Clock } from './runtime.ts';
import { createSearch } from './search/search.ts';
import { createStores } from './stores/stores.ts';
import { registerOps } from './ui/console/route.ts';
import { registerPage } from './ui/page/route.ts';

/** The running service: everything concrete meets here and nowhere else. */
export interface Service {
  /** Binds both listeners. Resolves to their URLs. */
  readonly listen: () => Promise<{ readonly publicUrl: string; readonly adminUrl: string }>;
  /** Drains, then closes every part. Idempotent; takes no longer than the drain and a little. */
  readonly close: () => Promise<void>;
}

export interface ServiceOptions {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  readonly version: string;
}

/** @throws when an embedded index cannot be opened. Stores and searchd may be away. */
export async function compose(options: ServiceOptions): Promise<Service> {
  const { settings, log, clock, random, version } = options;
  const metrics = createMetrics({
    domains: settings.domains.map(({ name }) => name),
    status: () => search.status(),
    admission: () => publicServer.pressure.status(),
    control: () => parts.map(({ domain, control }) => ({ domain: domain.name, control: summaryOf(control) })),
    clock,
  });
  const eventLog = createEventLog({ log, clock });
  const observe = (event: ServiceEvent): void => {
    metrics.observe(event);
    eventLog.observe(event);
  };
  const observers = observersOf(observe);
  const stores = createStores(settings, { clock, random, observeStore: observers.observeStore });
  const processId = `${random().toString(36).slice(2, 12)}${process.pid.toString(36)}`;
  const parts: ComposedDomain[] = [];
  const closeParts = async (): Promise<void> => {
    await Promise.all(parts.map((part) => part.close()));
    await stores.close();
    metrics.close();
  };
  try {
    for (const domain of settings.domains) {
      parts.push(
        await composeDomain(domain, {
          clock,
          random,
          processId,
          stores,
          compression: settings.compression,
          ...(settings.signing === undefined ? {} : { signing: settings.signing }),
          ...observers,
        }),
      );
    }
  } catch (error) {
    await closeParts();
    throw error;
  }
  const search = createSearch(parts);
  const audit = createAudit({ ...settings.audit, log, clock });
  const { counters } = stores;
  const operating = { clock, random, processId, counters, ...observers };
  const operations = composeOperations(
    parts.map((part) => ({ part, operations: composeDomainOperations(part, operating) })),
    settings.drills,
    { clock, random, processId, audit, ...observers },
  );
  const meters = new Map(parts.map(({ domain, meter }) => [domain.name, meter]));

  const { maxUrlBytes, drainMs } = settings.public;
  const clientMaxAges = new Map(settings.domains.map(({ name, freshness }) => [name, freshness.clientMaxAgeMs]));
  const shared = {
    ...{ search, log, clock, random, version, maxUrlBytes, drainMs },
    maxPageBytes: MAX_PAGE_BYTES,
    observe: (event: RequestEvent): void => {
      metrics.observe(event);
      meters.get(event.domain)?.noteRequest(event);
    },
    observeConnection: observe,
    observeToken: observe,
  };
  const publicServer = createPublicServer({
    ...shared,
    ...settings.public,
    clientMaxAgeMs: (domain) => clientMaxAges.get(domain) ?? 0,
    hitSample: settings.log.hitSample,
    pages: (app, { admission, ...context }) => registerPage(app, { ...context, ...pageOf(settings), door: admission }),
  });
  const adminServer = createAdminServer({
    ...shared,
    drainMs: ADMIN_DRAIN_MS,
    operations,
    audit,
    metricsText: metrics.text,
    hosts: settings.admin.hosts,
    pages: registerOps,
    trustedProxies: settings.public.trustedProxies,
    ...(settings.admin.token === undefined ? {} : { token: settings.admin.token }),
    ...(settings.admin.tls === undefined ? {} : { tls: settings.admin.tls }),
  });

  let binding: Promise<{ publicUrl: string; adminUrl: string }> | undefined;
  let closing: Promise<void> | undefined;
  const bind = async (): Promise<{ publicUrl: string; adminUrl: string }> => {
    const adminUrl = await adminServer.listen(settings.admin).catch((error) => {
      throw listenFault(error, { listener: 'admin', ...settings.admin }) ?? error;
    });
    // A process that serves before its store is there misses everything and asks the engine for what the fleet has.
    await Promise.all(parts.map((part) => part.connected(STORE_WAIT_MS)));
    const publicUrl = await publicServer.listen(settings.public).catch((error) => {
      throw listenFault(error, { listener: 'public', ...settings.public }) ?? error;
    });
    return { publicUrl, adminUrl };
  };
  /** What does not end is left behind and named, or no process that has it would leave. Each ends by itself well before. */
  const within = async <Value>(what: string, ending: Promise<Value>, ownMs = 0): Promise<Value | undefined> => {
    const waited = new AbortController();
    const late = sleep(ownMs + LATE_MS, 'late' as const, { signal: waited.signal }).catch(() => 'late' as const);
    const ended = await Promise.race([ending.then((value) => ({ value })), late]);
    waited.abort();
    if (ended !== 'late') return ended.value;
    log.warn({ what }, 'did not close in time');
    return undefined;
  };
  const close = async (): Promise<void> => {
    // A listener bound after it was closed would never be closed: wait until it is known which there are.
    await binding?.catch(() => undefined);
    // First of all: while this process drains, the others must have their cache back.
    await within('operations', operations.close());
    // The admin listener stays until the last search is answered: operators watch the drain.
    const drained = await within('public listener', publicServer.close(), drainMs);
    if (drained !== undefined && drained.cut > 0) {
      log.warn({ cut: drained.cut }, 'connections cut at the end of the drain');
    }
    await within('admin listener', adminServer.close(), ADMIN_DRAIN_MS);
    await within('stores and engines', closeParts());
    await within('audit', audit.close());
  };
  return {
    listen: () => {
      if (closing !== undefined) return Promise.reject(new Error('the service is closed'));
      binding ??= bind();
      return binding;
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** One callback for the events of each room, which adds their source. */
function observersOf(observe: (event: ServiceEvent) => void) {
  return {
    observeSearch: (event: EventOf<'search'>) => observe({ kind: 'search', event }),
    observeStore: (domain: string, event: EventOf<'store'>) => observe({ kind: 'store', domain, event }),
    observeEngine: (domain: string, event: EventOf<'engine'>) => observe({ kind: 'engine', domain, event }),
    observeGuard: (domain: string, event: EventOf<'guard'>) => observe({ kind: 'guard', domain, event }),
    observeControl: (event: EventOf<'control'>) => observe({ kind: 'control', event }),
    observePopularity: (event: EventOf<'popularity'>) => observe({ kind: 'popularity', event }),
    observeFlush: (event: EventOf<'flush'>) => observe({ kind: 'flush', event }),
    observeWarm: (event: EventOf<'warm'>) => observe({ kind: 'warm', event }),
    observeDrill: (event: EventOf<'drill'>) => observe({ kind: 'drill', event }),
  };
}

type EventOf<Kind extends ServiceEvent['kind']> = Extract<ServiceEvent, { kind: Kind; event: unknown }>['event'];

/** How the page for people presents itself: over the demo catalogue, with a few searches to begin with. */
function pageOf({
  domains,
  admin,
  public: { host },
}: Settings): Pick<Parameters<typeof registerPage>[1], 'examples' | 'explainUrl'> {
  const isDemo = domains.every(({ engine }) => engine.kind === 'sqlite' && engine.demo);
  // Whoever reads a page on this machine's own address can open the other listener there as well.
  const isOpen = admin.host === host && admin.token === undefined;
  const scheme = admin.tls === undefined ? 'http' : 'https';
  return {
    ...(isDemo ? { examples: DEMO_SEARCHES } : {}),
    ...(isOpen ? { explainUrl: `${scheme}://${admin.host}:${admin.port}/admin/explain` } : {}),
  };
}

const DEMO_SEARCHES = [
  { domain: 'goods', query: 'кроссовки' },
  { domain: 'goods', query: 'iphone 13' },
  { domain: 'auto', query: 'ваз 2107' },
  { domain: 'realty', query: 'двушка' },
  { domain: 'jobs', query: 'курьер' },
];

/** A store that is away delays the start by this and no more. */
const STORE_WAIT_MS = 2000;

/** What each part may take to close beyond its own drain. */
const LATE_MS = 2500;

/** Added to the public drain, which comes first: together they stay well below what a supervisor waits. */
const ADMIN_DRAIN_MS = 300;

/** Inflated: 100 results of what a description may be. A stored body that inflates past it is not believed. */
const MAX_PAGE_BYTES = 16 * 2 ** 20;
