import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { seededRandom } from '../../../loadtest/random.ts';
import type { Control } from '../../../src/control/control.ts';
import type { ControlStore } from '../../../src/control/control-store.ts';
import { createControl } from '../../../src/control/create-control.ts';
import type { BucketRange, Overlay } from '../../../src/control/document.ts';
import type { Drills } from '../../../src/operations/drills/create-drills.ts';
import { createDrills, type DrillsOptions } from '../../../src/operations/drills/create-drills.ts';
import type { DrillDomain, DrillEvent } from '../../../src/operations/drills/drills.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import type { Plan } from '../../../src/operations/drills/plan.ts';
import { readPlan } from '../../../src/operations/drills/plan-file.ts';
import type { EraseRequest, FlushPreview } from '../../../src/operations/flush/flush.ts';
import { DURATION_BOUNDS_MS, type MeterReading } from '../../../src/operations/meter/figures.ts';
import type { FleetReadings } from '../../../src/operations/meter/meter.ts';
import { OUTCOMES, type Outcome } from '../../../src/search/outcome.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createFakeClock, type FakeClock } from '../../fakes/clock.ts';

/**
 * Drills with the real control room in memory, under a simulated load. Virtual time advances when a drill sleeps. All is closed
 * after the test.
 */
export interface DrillHarness {
  readonly drills: Drills;
  readonly clock: FakeClock;
  readonly store: ControlStore;
  readonly events: DrillEvent[];
  readonly erased: EraseRequest[];
  readonly control: (domain?: string) => Control;
  readonly load: (domain?: string) => SimulatedDomain['load'];
  /** Called after each sleep of the drill, with its journal so far. The drill waits for what it returns. */
  onTick: ((journal: Journal) => unknown) | undefined;
  readonly start: (plan: string | Plan, domains?: readonly string[]) => Promise<Journal>;
  /** Resolves at the end of the drill. */
  readonly end: (id: string) => Promise<Journal>;
  /** Starts a drill, and resolves at its end. */
  readonly run: DrillHarness['start'];
  readonly close: () => Promise<void>;
}

export interface DrillHarnessOptions
  extends Partial<Pick<DrillsOptions, 'directory' | 'keep' | 'reportPage' | 'processId'>> {
  readonly domains?: readonly string[];
  readonly nodes?: readonly string[];
  readonly dedicated?: boolean;
  /** By domain; default 2000. */
  readonly patienceMs?: Readonly<Record<string, number>>;
  readonly store?: ControlStore;
  readonly clock?: FakeClock;
  /** Poll interval of the control store. */
  readonly intervalMs?: number;
  readonly preview?: DrillDomain['flush']['preview'];
  readonly recent?: DrillDomain['recent'];
  /** Replaces the erasure; a rejection is a failed erasure. */
  readonly erasing?: (ask: EraseRequest) => Promise<void>;
}

export function createDrillHarness(t: TestContext, options: DrillHarnessOptions = {}): DrillHarness {
  const { domains: names = ['goods'], nodes = [], dedicated = false, clock = createFakeClock() } = options;
  const store = options.store ?? createMemoryControlStore({ clock });
  const random = seededRandom(7);
  const events: DrillEvent[] = [];
  const erased: EraseRequest[] = [];
  const controls = new Map(
    names.map((domain) => [
      domain,
      createControl({
        ...{ domain, store, clock, random, shared: false, longestLifeMs: 3_600_000 },
        locate: () => undefined,
        observe: () => {},
        intervalMs: options.intervalMs ?? 5,
      }),
    ]),
  );
  const controlOf = (domain = names[0] ?? ''): Control => {
    const control = controls.get(domain);
    if (control === undefined) throw new Error(`no domain ${domain}`);
    return control;
  };
  const simulations = new Map(names.map((domain) => [domain, createSimulatedDomain(clock, controlOf(domain))]));
  const simulationOf = (domain = names[0] ?? ''): SimulatedDomain =>
    simulations.get(domain) ?? createSimulatedDomain(clock, controlOf());

  const harness: DrillHarness = {
    drills: createDrills({
      domains: names.map((name) => ({
        ...{ name, control: controlOf(name), readings: simulationOf(name).readings, dedicated },
        nodes: () => nodes,
        hasStore: nodes.length > 0,
        recent: options.recent ?? (() => undefined),
        patienceMs: options.patienceMs?.[name] ?? 2000,
        flush: {
          preview: options.preview ?? (async ({ mode, fraction }) => previewOf(mode, fraction)),
          erase: async (ask) => {
            erased.push(ask);
            await options.erasing?.(ask);
            return { state: 'done', nodes: [], seconds: 0 };
          },
        },
      })),
      ...{ clock, random, keep: options.keep ?? 20, processId: options.processId ?? 'here' },
      directory: options.directory,
      reportPage: options.reportPage ?? (({ id }) => `<p>${id}</p>`),
      observe: (event) => events.push(event),
      sleep: async (ms, signal) => {
        await turn();
        if (signal?.aborted === true) return;
        clock.advance(ms);
        const running = (await harness.drills.list()).drills.find(
          ({ running: runs, ending, here }) => here && (runs || ending !== undefined),
        );
        if (running !== undefined) await harness.onTick?.(await harness.drills.journal(running.id));
      },
    }),
    clock,
    store,
    events,
    erased,
    control: controlOf,
    load: (domain) => simulationOf(domain).load,
    onTick: undefined,
    start: (plan, domains) => harness.drills.start({ plan, by: 'test', reason: 'rehearsal', domains }),
    run: async (plan, domains) => harness.end((await harness.start(plan, domains)).id),
    end: async (id) => {
      for (;;) {
        const journal = await harness.drills.journal(id);
        if (journal.state.kind === 'over') return journal;
        await turn();
      }
    },
    close: async () => {
      await harness.drills.close();
      for (const control of controls.values()) await control.close();
    },
  };
  t.after(harness.close);
  return harness;
}

/** @param changes applied to a plan of two stages with short times. */
export function planOf(changes: Readonly<Record<string, unknown>> = {}): Plan {
  const stages = [
    { fraction: 0.25, holdMs: 5000 },
    { fraction: 1, holdMs: 5000 },
  ];
  const read = readPlan(
    {
      name: 'two',
      stages,
      baselineMs: 4000,
      afterMs: 4000,
      recovery: { withinPoints: 5, timeoutMs: 20_000 },
      ...changes,
    },
    { form: 'object' },
  );
  if (read.kind === 'plan') return read.plan;
  throw new Error(JSON.stringify(read.faults));
}

export function previewOf(mode: FlushPreview['mode'], fraction: number, engine = {}): FlushPreview {
  const { searches, ...others } = { searches: 60_000, ...engine };
  return {
    ...{ mode, fraction, ranges: [], nodes: [], memory: { entries: 10, bytes: 1000 } },
    engine: { seconds: 60, searches, engineCallsPerSecond: 100, ...others },
  };
}

/** The load on a domain. A test changes it while a drill runs. */
export interface Load {
  searchesPerSecond: number;
  /** Share of all searches. */
  failing: number;
  shedding: number;
  /** Duration of every search. */
  p99Ms: number;
  /** Hit ratio of keys that are not flushed. */
  hitRatio: number;
  /** Time until a flushed key is back. */
  refillMs: number;
  inFlight: number;
  /** Number of other processes that report and serve no search. */
  others: number;
  /** The control store does not answer. */
  away: boolean;
}

/** A domain under load in virtual time. Its counts follow from the overlay and the load. */
export interface SimulatedDomain {
  readonly load: Load;
  readonly readings: Pick<FleetReadings, 'collect'>;
}

const CEILING = 8;

export function createSimulatedDomain(clock: FakeClock, control: Pick<Control, 'overlay'>): SimulatedDomain {
  const load: Load = {
    searchesPerSecond: 1000,
    failing: 0,
    shedding: 0,
    p99Ms: 18,
    hitRatio: 0.9,
    refillMs: 3000,
    inFlight: 1,
    others: 0,
    away: false,
  };
  const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  const durations = [...DURATION_BOUNDS_MS, 0].map(() => 0);
  const engine = { calls: 0, failed: 0, busyMs: 0 };
  let cohorts: { searches: number; hits: number }[] = [];
  /** By floor. */
  const flushedAtMs = new Map<number, number>();
  let countedMs = clock.monotonicMs();

  const hitRatioOf = (buckets: readonly BucketRange[], overlay: Overlay | undefined): number => {
    if (overlay === undefined) return load.hitRatio;
    const width = widthOf(buckets);
    const lost = overlay.ranges.reduce((sum, range) => {
      const floor = range.floor ?? overlay.floor;
      const sinceMs = flushedAtMs.get(floor) ?? clock.monotonicMs();
      flushedAtMs.set(floor, sinceMs);
      const missing = Math.max(0, 1 - (clock.monotonicMs() - sinceMs) / load.refillMs);
      return sum + missing * widthOf(buckets.map((one) => overlap(one, range)));
    }, 0);
    return load.hitRatio * (1 - lost / Math.max(1, width));
  };

  const count = (): void => {
    const nowMs = clock.monotonicMs();
    const searches = ((nowMs - countedMs) * load.searchesPerSecond) / 1000;
    countedMs = nowMs;
    const overlay = control.overlay();
    const hits = searches * hitRatioOf([{ from: 0, to: 10_000 }], overlay);
    const misses = overlay?.blackout === true ? 0 : searches - hits;
    outcomes['hit-l1'] += hits;
    outcomes.shed += searches * load.shedding;
    outcomes.failed += searches * load.failing;
    outcomes.engine += Math.max(0, misses - searches * (load.shedding + load.failing));
    engine.calls += misses;
    engine.busyMs += misses * 5;
    const place = DURATION_BOUNDS_MS.findIndex((bound) => bound >= load.p99Ms);
    durations[place] = (durations[place] ?? 0) + searches;
    if (overlay === undefined) return;
    cohorts = overlay.cohorts.map((ranges, at) => {
      const before = cohorts[at] ?? { searches: 0, hits: 0 };
      const searched = (searches * widthOf(ranges)) / 10_000;
      return { searches: before.searches + searched, hits: before.hits + searched * hitRatioOf(ranges, overlay) };
    });
  };
  const read = (): MeterReading => ({
    atMs: clock.monotonicMs(),
    outcomes: { ...outcomes },
    durations: [...durations],
    engine: {
      ...engine,
      ...{ inFlight: load.inFlight, queued: 0, maxConcurrent: CEILING, ceiling: CEILING, breaker: 'closed' },
    },
    cohorts,
  });

  const idle = (): MeterReading => ({
    atMs: clock.monotonicMs(),
    outcomes: Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>,
    durations: durations.map(() => 0),
    engine: { ...read().engine, calls: 0, failed: 0, busyMs: 0, inFlight: 0 },
    cohorts: [],
  });

  return {
    load,
    readings: {
      collect: async () => {
        count();
        if (load.away) return undefined;
        const others = Array.from({ length: load.others }, (_, n): [string, MeterReading] => [`other-${n}`, idle()]);
        return new Map([['only', read()], ...others]);
      },
    },
  };
}

function widthOf(ranges: readonly BucketRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0);
}

function overlap(a: BucketRange, b: BucketRange): BucketRange {
  return { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
}
