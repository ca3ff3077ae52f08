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
  type Labelled,
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
  /** The sources are read once at the begin of each scrape, for all of their levels. */
  const register = <Source>(levels: Levels<Source>, read: () => readonly Labelled<Source>[]): void => {
    let sources: readonly Labelled<Source>[] = [];
    refreshes.push(() => {
      sources = read();
    });
    registerLevels(registries, levels, () => sources);
  };
  const single = <Source>(source: Source) => [{ labels: {}, source }];
  register(DOMAIN_LEVELS, () => options.status().map((source) => ({ labels: { domain: source.domain }, source })));
  register(CONTROL_LEVELS, () =>
    options.control().map(({ domain, control }) => ({ labels: { domain }, source: control })),
  );
  register(FEED_LEVELS, () => options.changes().map(({ domain, feed }) => ({ labels: { domain }, source: feed })));
  register(ADMISSION_LEVELS, () => single(options.admission()));
  register(LANE_LEVELS, () => single(options.lane()));
  register(LOG_LEVELS, () => single(options.droppedLines()));
  register(SCRAPE_LEVELS, () => single(madeInMs));
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
