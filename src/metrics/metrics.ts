import { Gauge, Registry } from 'prom-client';
import type { StoreEvent } from '../cache/store.ts';
import type { ControlEvent, ControlSummary } from '../control/control.ts';
import type { EngineEvent } from '../engines/create-engines.ts';
import type { ConnectionEvent, RequestEvent, TokenEvent } from '../http/transport/events.ts';
import type { PopularityEvent } from '../popularity/shared.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import type { Clock } from '../runtime.ts';
import type { SearchEvent } from '../search/events.ts';
import type { DomainStatus } from '../search/status.ts';
import { createStatusGauges } from './gauges.ts';
import {
  createConnectionObserver,
  createDoorGauges,
  createRequestObserver,
  createSearchObserver,
  createTokenObserver,
  type DoorStatus,
} from './observe-search.ts';
import {
  createControlGauges,
  createControlObserver,
  createEngineObserver,
  createGuardObserver,
  createPopularityObserver,
  createStoreObserver,
} from './observe-store.ts';
import { createProcessMetrics } from './process.ts';

/** One reader of every room's events, and their page for Prometheus. */
export interface Metrics {
  readonly observeRequest: (event: RequestEvent) => void;
  readonly observeConnection: (event: ConnectionEvent) => void;
  readonly observeToken: (event: TokenEvent) => void;
  readonly observeSearch: (event: SearchEvent) => void;
  readonly observeStore: (domain: string, event: StoreEvent) => void;
  readonly observeEngine: (domain: string, event: EngineEvent) => void;
  readonly observeGuard: (domain: string, event: GuardEvent) => void;
  readonly observeControl: (event: ControlEvent) => void;
  readonly observePopularity: (event: PopularityEvent) => void;
  /** The page. Scrapes that come while one is being made share it. */
  readonly text: () => Promise<MetricsPage>;
  /** Ends the measuring of the process. */
  readonly close: () => void;
}

export interface MetricsPage {
  readonly contentType: string;
  readonly body: string;
}

export interface MetricsOptions {
  /** Configured names: the only values a `domain` label takes, beside `none` and `other`. */
  readonly domains: readonly string[];
  /** Asked once per scrape, never before the first. */
  readonly status: () => readonly DomainStatus[];
  /** Likewise. */
  readonly door: () => DoorStatus;
  /** Likewise. */
  readonly control: () => readonly { readonly domain: string; readonly control: ControlSummary }[];
  readonly clock: Clock;
}

export function createMetrics({ domains, status, door, control, clock }: MetricsOptions): Metrics {
  const registry = new Registry();
  const observeRequest = createRequestObserver(registry, domains);
  const observeConnection = createConnectionObserver(registry);
  const observeToken = createTokenObserver(registry);
  const observeSearch = createSearchObserver(registry, domains);
  const observeStore = createStoreObserver(registry, domains);
  const observeEngine = createEngineObserver(registry, domains);
  const observeGuard = createGuardObserver(registry, domains);
  const refreshGauges = createStatusGauges(registry);
  const refreshDoor = createDoorGauges(registry);
  const observeControl = createControlObserver(registry, domains);
  const observePopularity = createPopularityObserver(registry, domains);
  const refreshControl = createControlGauges(registry);
  const processMetrics = createProcessMetrics(registry);
  const scrape = new Gauge({
    name: 'serpcache_scrape_duration_seconds',
    help: 'Time it took to make the page before this one.',
    registers: [registry],
  });

  const makePage = async (): Promise<MetricsPage> => {
    const startMs = clock.monotonicMs();
    refreshGauges(status());
    refreshDoor(door());
    refreshControl(control());
    processMetrics.refresh();
    const body = await registry.metrics();
    scrape.set((clock.monotonicMs() - startMs) / 1000);
    return { contentType: registry.contentType, body };
  };
  let making: Promise<MetricsPage> | undefined;
  return {
    observeRequest,
    observeConnection,
    observeToken,
    observeSearch,
    observeStore,
    observeEngine,
    observeGuard,
    observeControl,
    observePopularity,
    text: () => {
      making ??= makePage().finally(() => {
        making = undefined;
      });
      return making;
    },
    close: processMetrics.close,
  };
}
