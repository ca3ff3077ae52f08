import type { TestContext } from 'node:test';
import type { ControlSummary } from '../../src/control/control.ts';
import type { RequestEvent } from '../../src/http/events.ts';
import { createMetrics, type Metrics, type MetricsOptions } from '../../src/metrics/metrics.ts';
import { systemClock } from '../../src/runtime.ts';
import type { DomainStatus } from '../../src/search/status.ts';
import { FAKE_FEED, fakeStatus, fakeStoreStatus, type StatusChanges } from '../fakes/status.ts';

export const DOMAINS = ['goods', 'auto'];
export const VERSION = '1.2.3';

export function statusOf(domain: string, changes: StatusChanges = {}): DomainStatus {
  return fakeStatus(domain, {
    memory: {
      entries: 12,
      bytes: 3456,
      maxBytes: 65_536,
      emptyEntries: 3,
      emptyBytes: 210,
      emptyMaxBytes: 4096,
      evictions: 7,
      ghostHits: 4,
    },
    engine: {
      kind: 'sphinx',
      inFlight: 2,
      queued: 5,
      maxConcurrent: 8,
      ceiling: 9,
      overdue: 1,
      overloaded: true,
      endpoints: [
        { name: 'a:9306', breaker: 'closed', reachable: true, inFlight: 2 },
        { name: 'b:9306', breaker: 'open', reachable: false, inFlight: 0 },
      ],
    },
    processes: 3,
    leaseWaiters: 6,
    loads: 4,
    ...changes,
  });
}

/** A store whose first node is lost. */
export function nodes(...names: readonly string[]): NonNullable<DomainStatus['store']> {
  const own = (index: number) =>
    index === 0 ? ({ breaker: 'open', connected: false } as const) : { outstanding: index };
  return fakeStoreStatus(Object.fromEntries(names.map((name, index) => [name, own(index)])), { state: 'degraded' });
}

export const ADMISSION = { inFlight: 40, maxInFlight: 50, loopDelayMs: 20, state: 'degraded' } as const;

export const CONTROL: ControlSummary = {
  revision: 7,
  generation: 9,
  heardMsAgo: 250,
  shared: true,
  standing: 'corrupt',
  halted: true,
  suppressed: 3,
  purges: 2,
  ranges: 1,
  drill: { id: 'd', owner: 'a', flushed: 0.25, blackout: false },
  shadow: undefined,
  placement: undefined,
};

/** Metrics of a service of two domains, every part of which has something to tell. */
export function createFullMetrics(changes: Partial<MetricsOptions> = {}): Metrics {
  return createMetrics({
    domains: DOMAINS,
    status: () => DOMAINS.map((name) => statusOf(name)),
    admission: () => ADMISSION,
    lane: () => ({ connections: 7, handedOver: 3, searches: 900 }),
    control: () => [{ domain: 'goods', control: CONTROL }],
    changes: () => [{ domain: 'goods', feed: FAKE_FEED }],
    droppedLines: () => 12,
    clock: systemClock,
    version: VERSION,
    ...changes,
  });
}

/** The same, closed at the end of the test. */
export function start(
  context: TestContext,
  status: () => readonly DomainStatus[] = () => DOMAINS.map((name) => statusOf(name)),
  control: () => ControlSummary = () => CONTROL,
) {
  const metrics = createFullMetrics({ status, control: () => [{ domain: 'goods', control: control() }] });
  context.after(metrics.close);
  return metrics;
}

/** The trace of the search that `filled` counts. */
export const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Metrics of a store with a node, after a traced search and a pipeline with a failed command. */
export function filled(context: TestContext): Metrics {
  const metrics = start(context, () => DOMAINS.map((name) => statusOf(name, { store: nodes('a:1') })));
  metrics.observers.observeRequest({ ...hit, traceId: TRACE });
  const pipeline = { kind: 'pipeline', type: 'read', size: 3, failed: 1, durationMs: 2 } as const;
  metrics.observers.observeStore('goods', pipeline);
  return metrics;
}

export async function scrape(metrics: Metrics): Promise<Exposition> {
  return parseExposition((await metrics.text()).body);
}

export const hit: RequestEvent = {
  kind: 'request',
  route: 'search',
  domain: 'goods',
  outcome: 'hit-l1',
  status: 200,
  durationMs: 0.06,
};

export type Exposition = ReturnType<typeof parseExposition>;

interface ExpositionSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|[0-9.eE+-]+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/**
 * A page in Prometheus' text format, parsed more strictly than a scraper does.
 * @throws on a malformed line, a sample without a type, and a duplicate series.
 */
export function parseExposition(text: string) {
  const types = new Map<string, string>();
  const samples: ExpositionSample[] = [];
  const seen = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    const [, typed = '', type = ''] = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (typed !== '') {
      if (types.has(typed)) throw new Error(`two types for ${typed}`);
      types.set(typed, type);
      continue;
    }
    const [, name = '', labelText = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (name === '') throw new Error(`no exposition: ${line}`);
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    if (!types.has(family)) throw new Error(`no type for ${name}`);
    const labels = parseLabels(labelText);
    const identity = identify(name, labels);
    if (seen.has(identity)) throw new Error(`twice: ${identity}`);
    seen.add(identity);
    samples.push({ name, labels, value: value.endsWith('Inf') ? Number(`${value}inity`) : Number(value) });
  }
  const byIdentity = new Map(samples.map((sample) => [identify(sample.name, sample.labels), sample.value]));
  return {
    types,
    samples,
    /** The value of the series with exactly these labels. */
    value: (name: string, labels: Readonly<Record<string, string>> = {}) => byIdentity.get(identify(name, labels)),
  };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const start = LABEL.lastIndex;
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    if (name === '' || Object.hasOwn(labels, name)) throw new Error(`no labels: ${text.slice(start)}`);
    labels[name] = value;
  }
  return labels;
}

function identify(name: string, labels: Readonly<Record<string, string>>): string {
  return `${name}${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
}
