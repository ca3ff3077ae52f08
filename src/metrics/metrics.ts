import { Gauge, Registry } from 'prom-client';
import type { ControlSummary } from '../control/control.ts';
import type { Clock } from '../runtime.ts';
import type { DomainStatus } from '../search/status.ts';
import {
  createConnectionCounters,
  createControlCounters,
  createEngineCounters,
  createGuardCounters,
  createLogCounter,
  createPopularityCounters,
  createRequestCounters,
  createSearchCounters,
  createTokenCounters,
  createTracingCounters,
} from './counters.ts';
import type { ServiceEvent } from './events.ts';
import {
  type AdmissionStatus,
  createAdmissionGauges,
  createControlGauges,
  createDoctorGauges,
  createLaneGauges,
  createStatusGauges,
  type LaneStatus,
} from './gauges.ts';
import { type MetricsPage, type PageFormat, pageFormatOf, writePage } from './page.ts';
import { createProcessMetrics } from './process.ts';
import { createShadowCounters, createStoreCounters } from './store-counters.ts';

/** Counts the events of all rooms and serves them as a page for Prometheus. */
export interface Metrics {
  /** Events of flushes, warm-ups and drills have no metrics and are ignored. */
  readonly observe: (event: ServiceEvent) => void;
  /**
   * The page, in the format that the Accept header asks for. Scrapes that arrive while a page of that format is being made
   * share it.
   */
  readonly text: (accept?: string) => Promise<MetricsPage>;
  /** Ends the measuring of the process. */
  readonly close: () => void;
}

export interface MetricsOptions {
  /** Configured names: the only values of a `domain` label, beside `none` and `other`. */
  readonly domains: readonly string[];
  /** This and the four below are called once per scrape, and not before the first. */
  readonly status: () => readonly DomainStatus[];
  readonly admission: () => AdmissionStatus;
  /** Undefined while the lane is off. */
  readonly lane: () => LaneStatus | undefined;
  readonly control: () => readonly { readonly domain: string; readonly control: ControlSummary }[];
  readonly droppedLines: () => number;
  readonly clock: Clock;
  /** Version of the service. */
  readonly version: string;
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { domains, status, admission, lane, control, droppedLines, clock, version } = options;
  const registry = new Registry();
  const countRequest = createRequestCounters(registry, domains, clock);
  const countConnection = createConnectionCounters(registry);
  const countToken = createTokenCounters(registry);
  const countSearch = createSearchCounters(registry, domains);
  const countStore = createStoreCounters(registry, domains);
  const countEngine = createEngineCounters(registry, domains);
  const countGuard = createGuardCounters(registry, domains);
  const countControl = createControlCounters(registry, domains);
  const countPopularity = createPopularityCounters(registry, domains);
  const countShadow = createShadowCounters(registry, domains);
  const countSpans = createTracingCounters(registry);
  createLogCounter(registry, droppedLines);
  const setDoctor = createDoctorGauges(registry);
  const setStatus = createStatusGauges(registry);
  const setAdmission = createAdmissionGauges(registry);
  const setLane = createLaneGauges(registry);
  const setControl = createControlGauges(registry);
  const processMetrics = createProcessMetrics({ registry, version, clock });
  const scrape = new Gauge({
    name: 'serpcache_scrape_duration_seconds',
    help: 'Time that this process took to make the page of metrics before this one.',
    registers: [registry],
  });

  const makePage = async (format: PageFormat): Promise<MetricsPage> => {
    const startMs = clock.monotonicMs();
    setStatus(status());
    setAdmission(admission());
    setLane(lane());
    setControl(control());
    processMetrics.refresh();
    const page = await writePage(registry, format);
    scrape.set((clock.monotonicMs() - startMs) / 1000);
    return page;
  };
  const making = new Map<PageFormat, Promise<MetricsPage>>();
  return {
    observe: (reported) => {
      switch (reported.kind) {
        case 'request':
          return countRequest(reported);
        case 'store':
          return countStore(reported.domain, reported.event);
        case 'search':
          return countSearch(reported.event);
        case 'guard':
          return countGuard(reported.domain, reported.event);
        case 'engine':
          return countEngine(reported.domain, reported.event);
        case 'connection':
          return countConnection(reported);
        case 'token':
          return countToken(reported);
        case 'control':
          return countControl(reported.event);
        case 'popularity':
          return countPopularity(reported.event);
        case 'shadow':
          return countShadow(reported.event);
        case 'doctor':
          return setDoctor(reported.event);
        case 'tracing':
          return countSpans(reported);
        case 'flush':
        case 'warm':
        case 'drill':
          return;
      }
    },
    text: (accept) => {
      const format = pageFormatOf(accept);
      const running = making.get(format);
      if (running !== undefined) return running;
      const page = makePage(format).finally(() => making.delete(format));
      making.set(format, page);
      return page;
    },
    close: processMetrics.close,
  };
}
