import { Gauge, Registry } from 'prom-client';
import type { ControlSummary } from '../control/control.ts';
import type { Clock } from '../runtime.ts';
import type { DomainStatus } from '../search/status.ts';
import {
  createConnectionCounters,
  createControlCounters,
  createEngineCounters,
  createGuardCounters,
  createPopularityCounters,
  createRequestCounters,
  createSearchCounters,
  createShadowCounters,
  createStoreCounters,
  createTokenCounters,
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
import { createProcessMetrics } from './process.ts';

/** Counts the events of all rooms and serves them as a page for Prometheus. */
export interface Metrics {
  /** Events of flushes, warm-ups and drills have no metrics and are ignored. */
  readonly observe: (event: ServiceEvent) => void;
  /** The page. Scrapes that arrive while a page is being made share it. */
  readonly text: () => Promise<MetricsPage>;
  /** Ends the measuring of the process. */
  readonly close: () => void;
}

interface MetricsPage {
  readonly contentType: string;
  readonly body: string;
}

interface MetricsOptions {
  /** Configured names: the only values of a `domain` label, beside `none` and `other`. */
  readonly domains: readonly string[];
  /** This and the two below are called once per scrape, and not before the first. */
  readonly status: () => readonly DomainStatus[];
  readonly admission: () => AdmissionStatus;
  /** Undefined while the lane is off. */
  readonly lane: () => LaneStatus | undefined;
  readonly control: () => readonly { readonly domain: string; readonly control: ControlSummary }[];
  readonly clock: Clock;
}

export function createMetrics({ domains, status, admission, lane, control, clock }: MetricsOptions): Metrics {
  const registry = new Registry();
  const countRequest = createRequestCounters(registry, domains);
  const countConnection = createConnectionCounters(registry);
  const countToken = createTokenCounters(registry);
  const countSearch = createSearchCounters(registry, domains);
  const countStore = createStoreCounters(registry, domains);
  const countEngine = createEngineCounters(registry, domains);
  const countGuard = createGuardCounters(registry, domains);
  const countControl = createControlCounters(registry, domains);
  const countPopularity = createPopularityCounters(registry, domains);
  const countShadow = createShadowCounters(registry, domains);
  const setDoctor = createDoctorGauges(registry);
  const setStatus = createStatusGauges(registry);
  const setAdmission = createAdmissionGauges(registry);
  const setLane = createLaneGauges(registry);
  const setControl = createControlGauges(registry);
  const processMetrics = createProcessMetrics(registry);
  const scrape = new Gauge({
    name: 'serpcache_scrape_duration_seconds',
    help: 'Time that it took to make the page before this one.',
    registers: [registry],
  });

  const makePage = async (): Promise<MetricsPage> => {
    const startMs = clock.monotonicMs();
    setStatus(status());
    setAdmission(admission());
    setLane(lane());
    setControl(control());
    processMetrics.refresh();
    const body = await registry.metrics();
    scrape.set((clock.monotonicMs() - startMs) / 1000);
    return { contentType: registry.contentType, body };
  };
  let making: Promise<MetricsPage> | undefined;
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
        case 'flush':
        case 'warm':
        case 'drill':
          return;
      }
    },
    text: () => {
      making ??= makePage().finally(() => {
        making = undefined;
      });
      return making;
    },
    close: processMetrics.close,
  };
}
