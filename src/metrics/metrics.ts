import type { FeedStatus } from '../changes/feed.ts';
import type { ControlSummary } from '../control/control.ts';
import type { Clock } from '../runtime.ts';
import type { DomainStatus } from '../search/status.ts';
import { createCounters } from './counters.ts';
import {
  ADMISSION_LEVELS,
  type AdmissionFigures,
  CONTROL_LEVELS,
  createDoctorLevels,
  DOMAIN_LEVELS,
  FEED_LEVELS,
  LANE_LEVELS,
  type LaneFigures,
  type Levels,
  registerLevels,
} from './levels.ts';
import { createRegistries, type PageFormat, pageFormatOf } from './page.ts';
import { createProcessMetrics } from './process.ts';
import { createMetricKit } from './series.ts';

export type Metrics = ReturnType<typeof createMetrics>;

export interface MetricsOptions {
  /** Configured names: the only values of a `domain` label, beside `none` and `other`. */
  readonly domains: readonly string[];
  /** This and the ones below are called once per scrape, and not before the first. */
  readonly status: () => readonly DomainStatus[];
  readonly admission: () => AdmissionFigures;
  /** Undefined while the lane is off. */
  readonly lane: () => LaneFigures | undefined;
  readonly control: () => readonly { readonly domain: string; readonly control: ControlSummary }[];
  /** The domains that have a feed of changes. */
  readonly changes: () => readonly { readonly domain: string; readonly feed: FeedStatus }[];
  /** The count so far: the log is older than the metrics. */
  readonly droppedLines: () => number;
  readonly clock: Clock;
  /** Version of the service. */
  readonly version: string;
}

const SCRAPE_LEVELS: Levels<number> = {
  serpcache_scrape_duration_seconds: {
    help: 'Time that this process took to make the page of metrics before this one.',
    value: (ms) => ms / 1000,
  },
};

const LOG_LEVELS: Levels<number> = {
  serpcache_log_lines_dropped_total: {
    help: 'Lines of the log that were not written, because the reader of standard output does not read or its disk is full.',
    value: (lines) => lines,
  },
};

/** Counts the events of all rooms and serves them as a page for Prometheus. */
export function createMetrics(options: MetricsOptions) {
  const { domains, clock, version } = options;
  const registries = createRegistries();
  const kit = createMetricKit(registries, clock);
  let madeInMs = 0;

  const refreshes: (() => void)[] = [];
  /** Read once at the begin of each scrape, for all levels of the source. */
  const perScrape = <Figures>(read: () => Figures): (() => Figures) => {
    let figures: Figures;
    refreshes.push(() => {
      figures = read();
    });
    return () => figures;
  };
  const status = perScrape(options.status);
  const admission = perScrape(options.admission);
  const lane = perScrape(options.lane);
  const control = perScrape(options.control);
  const changes = perScrape(options.changes);
  const single = <Source>(source: Source) => [{ labels: {}, source }];
  registerLevels(registries, DOMAIN_LEVELS, () =>
    status().map((source) => ({ labels: { domain: source.domain }, source })),
  );
  registerLevels(registries, CONTROL_LEVELS, () =>
    control().map(({ domain, control: source }) => ({ labels: { domain }, source })),
  );
  registerLevels(registries, FEED_LEVELS, () =>
    changes().map(({ domain, feed: source }) => ({ labels: { domain }, source })),
  );
  registerLevels(registries, ADMISSION_LEVELS, () => single(admission()));
  registerLevels(registries, LANE_LEVELS, () => single(lane()));
  registerLevels(registries, LOG_LEVELS, () => single(options.droppedLines()));
  registerLevels(registries, SCRAPE_LEVELS, () => single(madeInMs));
  const closeProcess = createProcessMetrics(registries, { version, clock });

  const makePage = async (format: PageFormat) => {
    const startMs = clock.monotonicMs();
    for (const refresh of refreshes) refresh();
    const body = await registries[format].metrics();
    madeInMs = clock.monotonicMs() - startMs;
    return { contentType: registries[format].contentType, body };
  };
  const making = new Map<PageFormat, ReturnType<typeof makePage>>();
  return {
    observers: {
      ...createCounters(kit, domains),
      observeDoctor: createDoctorLevels(registries),
    },
    /**
     * The page, in the format that the Accept header asks for. Scrapes that arrive while a page of that format is being made
     * share it.
     */
    text: (accept?: string) => {
      const format = pageFormatOf(accept);
      const running = making.get(format);
      if (running !== undefined) return running;
      const page = makePage(format).finally(() => making.delete(format));
      making.set(format, page);
      return page;
    },
    /** Ends the measuring of the process. */
    close: closeProcess,
  };
}
