import { join } from 'node:path';
import type { RuledName } from '../cache/invalidation.ts';
import type { MemoryTier } from '../cache/memory.ts';
import type { Changes } from '../changes/create-changes.ts';
import type { DomainSettings, Settings } from '../config/settings.ts';
import { type Control, summaryOf } from '../control/control.ts';
import { OperationError } from '../control/operation-error.ts';
import type { Popularity } from '../popularity/popularity.ts';
import { type CounterStore, createSharedPopularity, type PopularityEvent } from '../popularity/shared.ts';
import { type Runtime, repeat } from '../runtime.ts';
import type { Engine } from '../search/engine.ts';
import type { DomainStatus } from '../search/status.ts';
import type { Audit } from './audit/audit.ts';
import { openServiceDoctor, type Probes } from './doctor/create-doctor.ts';
import type { DoctorEvent } from './doctor/doctor.ts';
import { createDrills } from './drills/create-drills.ts';
import type { DrillDomain, DrillEvent } from './drills/drills.ts';
import { reportPage } from './drills/report/report-page.ts';
import { createFeed } from './feed/feed.ts';
import { createFlush } from './flush/create-flush.ts';
import type { FlushEvent, QueryPages } from './flush/flush.ts';
import { createSweeper } from './flush/preview.ts';
import { auditFigures, figuresBetween, type MeterReading } from './meter/figures.ts';
import { createFleetReadings, createRecent, type Meter } from './meter/meter.ts';
import type { DomainLook, DomainOperations, Operations, Watcher } from './operations.ts';
import { createShadows } from './shadow/create-shadows.ts';
import { missedStore, type OperatedStore } from './shadow/domain-stores.ts';
import type { ShadowEvent } from './shadow/shadow.ts';
import type { WarmEvent } from './warm/warm.ts';
import { createWarmUps, type WarmUpDomain } from './warm/warm-ups.ts';

/** The parts of one domain that operations use. `Prepared` is a search that was parsed and has its key. */
interface OperatedDomain<Prepared> {
  readonly name: string;
  readonly settings: DomainSettings;
  readonly control: Control;
  /** Absent: the domain has no feed of changes. */
  readonly changes: Changes | undefined;
  /** Absent: the engine takes no documents. */
  readonly update: Engine['update'];
  /** The control document is kept in another store than the entries. */
  readonly controlElsewhere: boolean;
  /** Absent: the domain has no store. */
  readonly store?: OperatedStore;
  readonly memory: Pick<MemoryTier, 'keys' | 'peek' | 'delete'>;
  readonly storedName: (key: string) => RuledName;
  readonly meter: Pick<Meter, 'read' | 'counts'>;
  readonly status: () => DomainStatus;
  readonly pagesOf: (typed: string) => QueryPages;
  readonly popularity: Popularity<Prepared>;
  /** The search as a query string; undefined: it cannot be written as one. */
  readonly searchText: (prepared: Prepared) => string | undefined;
  readonly warm: Pick<WarmUpDomain<Prepared>, 'prepare' | 'warm' | 'spare'>;
}

interface OperationsRuntime extends Pick<Runtime<never>, 'clock' | 'random' | 'processId'> {
  readonly version: string;
  readonly audit: Pick<Audit, 'record'>;
  /** Absent: popularity is counted per process. */
  readonly counters: CounterStore | undefined;
  readonly observeFlush: (event: FlushEvent) => void;
  readonly observePopularity: (event: PopularityEvent) => void;
  readonly observeDrill: (event: DrillEvent) => void;
  readonly observeWarm: (event: WarmEvent) => void;
  readonly observeShadow: (event: ShadowEvent) => void;
  readonly observeDoctor: (event: DoctorEvent) => void;
  /** The doctor's view of everything beside this process. */
  readonly probes: Probes;
  /** The delay of the event loop, and the delay above which only searches in memory are answered. */
  readonly loopDelay: () => { readonly loopDelayMs: number; readonly maxLoopDelayMs: number };
}

/**
 * `close` rolls back the drills of this process, within about a second, and closes everything else.
 * @throws when a ready-made plan is invalid
 */
export function createOperations<Prepared>(
  domains: readonly OperatedDomain<Prepared>[],
  settings: Settings,
  runtime: OperationsRuntime,
): Operations & { readonly close: () => Promise<void> } {
  const { clock, random, audit, observeDrill, observeWarm } = runtime;
  // Disposed in reverse order: warm-ups and drills end before the parts they use.
  const stack = new AsyncDisposableStack();
  const byName = new Map(domains.map((domain) => [domain.name, createDomainOperations(domain, runtime, stack)]));
  const parts = [...byName.values()];
  const drills = createDrills({
    ...runtime,
    ...settings.drills,
    domains: parts.map(({ drilled }) => drilled),
    reportPage,
    observe: (event) => {
      observeDrill(event);
      // The end of a drill is not a request of an operator, so no admin route records it.
      if (event.kind !== 'drill-ended') return;
      const { id, domains: drilled, verdict } = event;
      audit.record({
        action: 'drill-ended',
        domain: drilled.length === 1 ? drilled[0] : undefined,
        target: id,
        by: 'serpcache',
        result: verdict.kind,
        after: verdict,
      });
    },
  });
  stack.defer(drills.close);
  const warm = createWarmUps({
    domains: new Map([...byName].map(([name, { warmed }]) => [name, warmed])),
    clock,
    random,
    observe: observeWarm,
  });
  stack.defer(warm.close);
  const shadows = createShadows({
    ...runtime,
    ...settings.drills,
    domains: domains.flatMap(({ name, control, controlElsewhere, store }) =>
      store === undefined ? [] : [{ name, control, controlElsewhere, ...store, configured: store.ref }],
    ),
    names: domains.map(({ name }) => name),
    directory: join(settings.drills.directory, 'shadow'),
    observe: runtime.observeShadow,
  });
  stack.defer(shadows.close);
  const doctor = openServiceDoctor({ ...runtime, settings, domains, observe: runtime.observeDoctor });
  stack.defer(doctor.close);

  return {
    domains: [...byName.keys()],
    domain: (name) => {
      const found = byName.get(name);
      if (found !== undefined) return found.operations;
      const known = [...byName.keys()].join(', ');
      throw new OperationError('unknown-domain', `domain must be one of: ${known}`, '/domain');
    },
    drills,
    warm,
    shadows,
    doctor,
    watch: () => createWatcher(domains),
    close: () => stack.disposeAsync(),
  };
}

/** Interval of checks for a raised floor: entries that a flush made useless stay in memory for at most this time. */
const SWEEP_INTERVAL_MS = 1000;

function createDomainOperations<Prepared>(
  domain: OperatedDomain<Prepared>,
  { clock, random, processId, counters, observeFlush, observePopularity }: OperationsRuntime,
  stack: AsyncDisposableStack,
) {
  const { name, control, controlElsewhere, store, memory, storedName, meter, popularity } = domain;
  const dedicated = store?.dedicated ?? false;
  const recent = createRecent({ meter });
  stack.defer(recent.close);
  const readings = createFleetReadings({ control, meter, processId });
  stack.defer(readings.close);
  const shared = createSharedPopularity({
    domain: name,
    local: popularity,
    searchOf: domain.searchText,
    counters,
    random,
    observe: observePopularity,
  });
  stack.defer(shared.close);
  const flush = createFlush({
    domain: name,
    control,
    content: store?.content,
    holds: store?.holds,
    erased: store?.shadowed?.placed.everywhere,
    missedStore: store === undefined ? undefined : () => missedStore(control.document(), store, clock.wallMs()),
    memory,
    bucketOf: (key) => storedName(key).bucket,
    dedicated,
    controlElsewhere,
    recent: recent.figures,
    clock,
    random,
    observe: observeFlush,
  });
  stack.defer(flush.close);
  const sweeper = createSweeper({
    domain: name,
    document: control.document,
    memory,
    nameOf: storedName,
    observe: observeFlush,
  });
  stack.defer(sweeper.close);
  stack.defer(repeat(sweeper.sweep, () => SWEEP_INTERVAL_MS, SWEEP_INTERVAL_MS));
  const operations: DomainOperations = {
    control,
    feed: createFeed({
      domain: name,
      attributes: domain.settings.attributes,
      changes: domain.changes,
      update: domain.update,
    }),
    flush,
    pagesOf: domain.pagesOf,
    popular: shared.top,
  };
  const drilled: DrillDomain = {
    name,
    control,
    flush,
    readings,
    recent: recent.figures,
    nodes: () => store?.content.nodes() ?? [],
    dedicated,
    hasStore: store !== undefined,
    patienceMs: domain.settings.patienceMs,
  };
  const warmed: WarmUpDomain<Prepared> = {
    ...domain.warm,
    popular: async (n) => (await shared.top(n)).queries.map(({ search }) => search),
  };
  return { operations, drilled, warmed };
}

function createWatcher(
  domains: readonly Pick<OperatedDomain<unknown>, 'name' | 'meter' | 'status' | 'control' | 'changes'>[],
): Watcher {
  const before = new Map<string, MeterReading & { readonly changes: number | undefined }>();
  return {
    look: () =>
      domains.map(({ name, meter, status, control, changes }): DomainLook => {
        const feed = changes?.status();
        const [then, now] = [before.get(name), { ...meter.read(), changes: feed?.changes }];
        before.set(name, now);
        const { audits, changedPages: pages } = meter.counts();
        const seconds = then && (now.atMs - then.atMs) / 1000;
        const perSecond = feed && seconds ? (feed.changes - (then?.changes ?? 0)) / seconds : undefined;
        return {
          domain: name,
          figures: then && figuresBetween(new Map([[name, then]]), new Map([[name, now]])),
          status: status(),
          control: summaryOf(control),
          changes: feed && { ...feed, perSecond, pages, audit: auditFigures(audits) },
        };
      }),
  };
}
