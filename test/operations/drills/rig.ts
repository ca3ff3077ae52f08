import { setImmediate as turn } from 'node:timers/promises';
import type { Control } from '../../../src/control/control.ts';
import type { ControlStore } from '../../../src/control/control-store.ts';
import { createControl } from '../../../src/control/create-control.ts';
import { createDrills, type DrillsOptions } from '../../../src/operations/drills/create-drills.ts';
import type { DrillDomain, DrillEvent, Drills } from '../../../src/operations/drills/drills.ts';
import type { Journal } from '../../../src/operations/drills/journal.ts';
import type { Plan } from '../../../src/operations/drills/plan.ts';
import { readPlan } from '../../../src/operations/drills/plan-validation.ts';
import type { EraseRequest, FlushPreview } from '../../../src/operations/flush/flush.ts';
import { createMemoryControlStore } from '../../../src/stores/memory/control-store.ts';
import { createFakeClock, type FakeClock, seededRandom } from '../../fakes/clock.ts';
import { createWorld, type World } from './world.ts';

/** Drills over the real control room in memory, under a weather that a test makes; time passes as fast as they sleep. */
export interface Rig {
  readonly drills: Drills;
  readonly clock: FakeClock;
  readonly store: ControlStore;
  readonly events: DrillEvent[];
  readonly erased: EraseRequest[];
  readonly control: (domain?: string) => Control;
  readonly weather: (domain?: string) => World['weather'];
  /** Called each time the drill has slept, with what it has written so far. */
  onTick: ((journal: Journal) => void) | undefined;
  readonly start: (plan: string | Plan, domains?: readonly string[]) => Promise<Journal>;
  /** Waits for the drill's end. */
  readonly end: (id: string) => Promise<Journal>;
  readonly close: () => Promise<void>;
}

export interface RigOptions extends Partial<Pick<DrillsOptions, 'directory' | 'keep' | 'reportPage' | 'processId'>> {
  readonly domains?: readonly string[];
  readonly nodes?: readonly string[];
  readonly dedicated?: boolean;
  /** By domain, where it is another than the usual one. */
  readonly patienceMs?: Readonly<Record<string, number>>;
  readonly store?: ControlStore;
  readonly clock?: FakeClock;
  /** Between two looks at the control store. */
  readonly intervalMs?: number;
  readonly preview?: DrillDomain['flush']['preview'];
  readonly recent?: DrillDomain['recent'];
  /** Until an erasure is done; it fails by rejecting. */
  readonly erasing?: (ask: EraseRequest) => Promise<void>;
}

export function createRig(options: RigOptions = {}): Rig {
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
  const worlds = new Map(names.map((domain) => [domain, createWorld(clock, controlOf(domain))]));
  const worldOf = (domain = names[0] ?? ''): World => worlds.get(domain) ?? createWorld(clock, controlOf());

  const rig: Rig = {
    drills: createDrills({
      domains: names.map((name) => ({
        ...{ name, control: controlOf(name), readings: worldOf(name).readings, dedicated },
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
      ...(options.directory === undefined ? {} : { directory: options.directory }),
      reportPage: options.reportPage ?? (({ id }) => `<p>${id}</p>`),
      observe: (event) => events.push(event),
      sleep: async (ms, signal) => {
        await turn();
        if (signal?.aborted === true) return;
        clock.advance(ms);
        const running = (await rig.drills.list()).drills.find(
          ({ running: runs, ending, here }) => here && (runs || ending !== undefined),
        );
        if (running !== undefined) rig.onTick?.(await rig.drills.journal(running.id));
      },
    }),
    clock,
    store,
    events,
    erased,
    control: controlOf,
    weather: (domain) => worldOf(domain).weather,
    onTick: undefined,
    start: (plan, domains) => rig.drills.start({ plan, by: 'test', reason: 'rehearsal', ...(domains && { domains }) }),
    end: async (id) => {
      for (;;) {
        const journal = await rig.drills.journal(id);
        if (journal.state.kind === 'over') return journal;
        await turn();
      }
    },
    close: async () => {
      await rig.drills.close();
      for (const control of controls.values()) await control.close();
    },
  };
  return rig;
}

/** @param changes over a plan of two stages with short times. */
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
