import { longestLifeMs } from './cache/entry.ts';
import { BUCKETS } from './cache/invalidation.ts';
import { createSigning } from './cache/signing.ts';
import { createChanges } from './changes/create-changes.ts';
import { listenFault } from './config/faults.ts';
import type { DomainSettings, Settings } from './config/settings.ts';
import { summaryOf } from './control/control.ts';
import { createControl } from './control/create-control.ts';
import { createMembership } from './control/membership.ts';
import { createEngines, searchDomainOf } from './engines/create-engines.ts';
import { openEngineProbes } from './engines/engine-probes.ts';
import { createAdminServer } from './http/admin/admin-server.ts';
import { createPublicServer } from './http/search-api/public-server.ts';
import { createEventLog, LOGGED_KINDS } from './metrics/event-log.ts';
import { type Observers, shareEvents } from './metrics/events.ts';
import type { ServiceLog } from './metrics/logger.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createAudit } from './operations/audit/audit.ts';
import { createOperations } from './operations/create-operations.ts';
import { createMeter, type Meter, meterEvents } from './operations/meter/meter.ts';
import { openDomainStores } from './operations/shadow/domain-stores.ts';
import { createPopularity } from './popularity/popularity.ts';
import { type Clock, type Runtime, settledWithin, waitFor } from './runtime.ts';
import { createDomain } from './search/domain-search.ts';
import { createSearchTexts, type PreparedSearch, storedNameOf } from './search/key.ts';
import type { Tracer } from './search/trace.ts';
import { createMemoryTier } from './stores/memory/memory-tier.ts';
import { openStoreProbes } from './stores/store-probes.ts';
import { createStores, type ProcessStores } from './stores/stores.ts';
import { createTracing } from './tracing/tracing.ts';
import { registerOps } from './ui/console/route.ts';
import { pageSettings } from './ui/page/first-page.ts';
import { registerPage } from './ui/page/route.ts';

/** The running service. This file connects the rooms; each room puts its own parts together. */
export type Service = Awaited<ReturnType<typeof createService>>;

interface ServiceOptions extends ServiceLog {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: () => number;
  readonly version: string;
}

/** Maximum delay of the start by a store that is away. */
const STORE_WAIT_MS = 2000;
/** Maximum time for a part to close, beyond its own drain. */
const CLOSE_MS = 2500;
/** Added to the public drain, which comes first: together they stay well below the time a supervisor waits. */
const ADMIN_DRAIN_MS = 300;
/** Maximum of an inflated stored body: 100 results with the longest descriptions. A larger one is not believed. */
const MAX_PAGE_BYTES = 16 * 2 ** 20;
/** The memory of URLs is a quarter of L1, because a URL takes a quarter of a usual page, within these limits. */
const TARGET_MEMO_BYTES = { min: 16 * 2 ** 20, max: 128 * 2 ** 20 };
/** Time at the end in which the last loads may give their leases back. */
const GIVE_BACK_MS = 200;

/** @throws when an embedded index cannot be opened. Stores and searchd may be away. */
export async function createService(options: ServiceOptions) {
  const { settings, log, clock, random, version } = options;
  // Closed in reverse order. When the start fails, everything opened so far is closed.
  await using opened = new AsyncDisposableStack();
  const audit = createAudit({ ...settings.audit, log, clock });
  opened.defer(() => ended('audit', audit.close()));

  const metrics = createMetrics({
    ...options,
    domains: settings.domains.map(({ name }) => name),
    status: () => domains.map(({ search }) => search.status()),
    admission: () => publicServer.pressure.status(),
    lane: () => publicServer.lane?.status(),
    control: () => domains.map(({ name, control }) => ({ domain: name, control: summaryOf(control) })),
    changes: () =>
      domains.flatMap(({ name, operated: { changes } }) =>
        changes === undefined ? [] : [{ domain: name, feed: changes.status() }],
      ),
  });
  opened.defer(metrics.close);
  const meters = new Map<string, Meter>();
  // The meters come first: a reader of events may ask for their counts.
  const observers = shareEvents([
    { observers: meterEvents(meters) },
    { observers: metrics.observers },
    { observers: createEventLog({ log, clock }), kinds: LOGGED_KINDS },
  ]);
  const runtime = { clock, random, processId: `${random().toString(36).slice(2, 12)}${process.pid.toString(36)}` };
  const tracing = await createTracing(settings, { ...runtime, version, observe: observers.observeTracing });
  opened.defer(() => ended('tracing', Promise.resolve(tracing?.close())));

  const stores = createStores(settings, { clock, random, observeStore: observers.observeStore });
  const domains: ConnectedDomain[] = [];
  const closeDomains = async (): Promise<void> => {
    await Promise.all(domains.map((domain) => domain.close()));
    await stores.close();
  };
  opened.defer(() => ended('stores and engines', closeDomains()));
  for (const domain of settings.domains)
    domains.push(await connectDomain(domain, { settings, stores, runtime, observers, tracer: tracing?.tracer }));
  for (const { name, operated } of domains) meters.set(name, operated.meter);

  const operations = createOperations(
    domains.map(({ operated }) => operated),
    settings,
    {
      ...runtime,
      ...observers,
      audit,
      counters: stores.counters,
      version,
      probes: { stores: openStoreProbes(settings, runtime), engines: openEngineProbes(settings.domains, runtime) },
      loopDelay: () => publicServer.pressure.status(),
    },
  );

  const l1Bytes = settings.domains.reduce((sum, { memory }) => sum + memory.maxBytes, 0);
  const shared = {
    ...options,
    ...observers,
    domains: domains.map(({ search }) => search),
    maxPageBytes: MAX_PAGE_BYTES,
    observe: observers.observeRequest,
  };
  const publicServer = createPublicServer({
    ...shared,
    ...settings.public,
    targetMemoBytes: Math.min(Math.max(TARGET_MEMO_BYTES.min, l1Bytes / 4), TARGET_MEMO_BYTES.max),
    hitSample: settings.log.hitSample,
    tracer: tracing?.tracer,
    findings: () => operations.doctor.standing()?.counts,
    pages: (app, context) => registerPage(app, { ...context, ...pageSettings(settings) }),
  });
  const adminServer = createAdminServer({
    ...shared,
    ...settings.admin,
    operations,
    audit,
    drainMs: ADMIN_DRAIN_MS,
    maxUrlBytes: settings.public.maxUrlBytes,
    metricsText: metrics.text,
    pages: registerOps,
    trustedProxies: settings.public.trustedProxies,
  });
  // Operators watch the drain: the admin listener stays until the last search is answered.
  opened.defer(async () => void (await ended('admin listener', adminServer.close(), ADMIN_DRAIN_MS)));
  opened.defer(async () => {
    const drained = await ended('public listener', publicServer.close(), settings.public.drainMs);
    if (drained !== undefined && drained.cut > 0)
      log.warn({ cut: drained.cut }, 'connections cut at the end of the drain');
  });
  // Closed first: while this process drains, the others must have their cache back.
  opened.defer(() => ended('operations', operations.close()));

  /** A part that does not end is left and named; otherwise the process would never exit. Each part ends well before. */
  async function ended<Value>(what: string, closing: Promise<Value>, ownMs = 0): Promise<Value | undefined> {
    const closed = await settledWithin(closing, ownMs + CLOSE_MS);
    if (closed === undefined) log.warn({ what }, 'did not close in time');
    return closed?.value;
  }

  const failed = (listener: 'admin' | 'public') => (error: unknown) => {
    throw listenFault(error, { listener, ...settings[listener] }) ?? error;
  };
  const bind = async () => {
    const adminUrl = await adminServer.listen(settings.admin).catch(failed('admin'));
    // A process that serves before its store is connected misses everything and asks the engine for pages that the fleet has.
    await Promise.all(domains.map((domain) => domain.connected(STORE_WAIT_MS)));
    const publicUrl = await publicServer.listen(settings.public).catch(failed('public'));
    return { publicUrl, adminUrl };
  };
  const parts = opened.move();
  let binding: ReturnType<typeof bind> | undefined;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    // A listener that is bound after its close would stay: wait until the binding has ended.
    await binding?.catch(() => undefined);
    await parts.disposeAsync();
  };
  return {
    /** Binds both listeners. Resolves to their URLs. */
    listen: (): ReturnType<typeof bind> => {
      if (closing !== undefined) return Promise.reject(new Error('the service is closed'));
      binding ??= bind();
      return binding;
    },
    /** Drains, then closes every part. Idempotent; takes little longer than the drain. */
    close: (): Promise<void> => {
      closing ??= close();
      return closing;
    },
  };
}

type ConnectedDomain = Awaited<ReturnType<typeof connectDomain>>;

interface Connections {
  readonly settings: Settings;
  readonly stores: ProcessStores;
  readonly runtime: Omit<Runtime<never>, 'observe'>;
  readonly observers: Observers;
  readonly tracer: Tracer | undefined;
}

/** One domain of the configuration: its store, control document, engine and lifeboat, connected to its search. */
async function connectDomain(own: DomainSettings, { settings, stores, runtime, observers, tracer }: Connections) {
  const { name, store: storeSettings } = own;
  const { clock, random } = runtime;
  const domain = searchDomainOf(own);
  const { store, configured, operated } = openDomainStores(own, { ...stores, observe: observers.observeStore, clock });
  const fleet = createMembership({ store, id: runtime.processId, clock, random });
  const signing = settings.signing === undefined ? undefined : createSigning(settings.signing, name);
  const { elsewhere, ...place } = stores.controlOf(configured);
  const control = createControl({
    ...place,
    ...runtime,
    signing,
    domain: name,
    locate: (storeName) => store?.locate(storeName).node,
    observe: observers.observeControl,
    longestLifeMs: longestLifeMs(own.freshness),
  });
  const changes =
    own.changes &&
    createChanges({
      ...stores.changesOf(configured, own.changes.stream?.key, own.changes.stream?.from),
      ...runtime,
      domain,
      signing,
      settings: own.changes,
      observe: observers.observeChanges,
    });
  const engine = await createEngines(
    own,
    domain,
    {
      fleetShare: fleet.share,
      forcedOpen: control.forcedOpen,
      onReplaced: changes?.indexReplaced,
    },
    {
      clock,
      random,
      observeEngine: observers.observeEngine.bind(undefined, name),
      observeGuard: observers.observeGuard.bind(undefined, name),
    },
  ).catch(async (error) => {
    changes?.close();
    await Promise.all([fleet.close(), control.close()]);
    await store?.close();
    throw error;
  });
  const meter = createMeter({ buckets: BUCKETS, engine: engine.guard.levels, clock });
  const { maxBytes, emptyMaxBytes } = own.memory;
  const memory = createMemoryTier({ maxBytes: maxBytes - emptyMaxBytes, emptyMaxBytes });
  const popularity = createPopularity<PreparedSearch>({ ...own.popularity, clock });
  const storeDeadlineMs = storeSettings.kind === 'none' ? 0 : storeSettings.deadlineMs;
  const search = createDomain({
    ...runtime,
    store,
    domain,
    memory,
    signing,
    engine,
    fleet,
    popularity,
    tracer,
    lifeboat: engine.lifeboat,
    forcedOpen: control.forcedOpen,
    settings: { ...own, compression: settings.compression, storeDeadlineMs },
    rules: changes?.rules(control.rules) ?? control.rules,
    controlStanding: () => control.state().standing,
    observe: observers.observeSearch,
  });
  const texts = createSearchTexts(domain);
  const nodes = () => store?.nodes() ?? [];
  return {
    name,
    control,
    search,
    operated: {
      name,
      settings: own,
      control,
      changes,
      update: engine.engines[0]?.update,
      memory,
      meter,
      popularity,
      controlElsewhere: elsewhere,
      store: operated,
      storedName: (key: string) => storedNameOf(key, name),
      status: search.status,
      pagesOf: texts.pagesOf,
      searchText: texts.format,
      warm: { prepare: texts.parse, warm: search.warm, spare: search.spare },
    },
    /** Until every store node is connected and the fleet counted, or `timeoutMs` have passed: a store may be away. */
    connected: (timeoutMs: number) => {
      const hasRead = () => fleet.counted() && control.hasSynced() && changes?.hasSynced() !== false;
      return waitFor(() => hasRead() && nodes().every((node) => node.connected), timeoutMs, clock);
    },
    close: async (): Promise<void> => {
      search.close();
      changes?.close();
      await Promise.all([fleet.close(), control.close()]);
      await engine.close();
      // The loads that ended with the engine give their leases back: the store must hear of it before it is closed.
      const isAnswered = () => nodes().every(({ connected, outstanding }) => !connected || outstanding === 0);
      await waitFor(() => search.loading() === 0 && isAnswered(), GIVE_BACK_MS, clock);
      await store?.close();
    },
  };
}
