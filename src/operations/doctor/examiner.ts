import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../runtime.ts';
import { createStoreCollector } from './collect/store.ts';
import type { EngineProbe, ReadHost, ReadService, StoreProbe } from './doctor.ts';
import type { Snapshot } from './facts.ts';

/** Takes snapshots of everything that its probes reach. */
export type Examiner = ReturnType<typeof createExaminer>;

const SNAPSHOTS = 4;
const LOOP_RESOLUTION_MS = 5;
/** With stores, rates of a second; without any, there is less to see. */
const WINDOW_MS = { stores: 1000, none: 300 };

export function createExaminer(options: {
  readonly stores: readonly StoreProbe[];
  readonly engines: readonly EngineProbe[];
  readonly readHost: ReadHost;
  /** Absent: no service runs in this process. */
  readonly readService?: ReadService;
  readonly clock: Clock;
  /** Where the samples of keys begin. */
  readonly random?: () => number;
}) {
  const { stores, engines, readHost, readService, clock, random } = options;
  const collectors = stores.map((probe) => createStoreCollector({ probe, clock, random }));
  const hostNames = new Set(stores.flatMap(({ facts }) => facts.settings.names));
  const closing = new AbortController();

  const snapshot = async (depth: Snapshot['depth']): Promise<Snapshot> => {
    // Before the round trips: starting `tc` and a thread makes the event loop late.
    const host = await readHost(depth, [...hostNames]);
    // Rates are of the time between two readings of the counters, which come next.
    const [atMs, wallMs] = [clock.monotonicMs(), clock.wallMs()];
    const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
    if (depth === 'full') delay.enable();
    const [storeFacts, engineFacts, service] = await Promise.all([
      Promise.all(collectors.map((collector) => collector.read(depth))),
      Promise.all(engines.map((engine) => engine.read(depth))),
      readService?.(),
    ]);
    delay.disable();
    // Known from now on: an engine's name is in its facts only.
    for (const { settings } of engineFacts) if (settings.hostName !== undefined) hostNames.add(settings.hostName);
    return {
      atMs,
      wallMs,
      depth,
      // Its timer adds its own interval to each delay.
      loopMaxMs: depth === 'full' ? Math.max(0, delay.max / 1e6 - LOOP_RESOLUTION_MS) : undefined,
      stores: storeFacts,
      engines: engineFacts,
      hosts: [host],
      service,
    };
  };

  /** Four full snapshots whose beginnings are `windowMs` apart. Rejects when the examiner is closed before its end. */
  const series = async (
    windowMs = stores.length > 0 ? WINDOW_MS.stores : WINDOW_MS.none,
  ): Promise<readonly Snapshot[]> => {
    const snapshots: Snapshot[] = [];
    for (let at = 0; at < SNAPSHOTS; at += 1) {
      closing.signal.throwIfAborted();
      const beganMs = clock.monotonicMs();
      snapshots.push(await snapshot('full'));
      const waitMs = Math.max(0, beganMs + windowMs - clock.monotonicMs());
      if (at < SNAPSHOTS - 1) await sleep(waitMs, undefined, { signal: closing.signal });
    }
    return snapshots;
  };

  return {
    snapshot,
    series,
    /** Closes the probes. */
    close: async () => {
      closing.abort();
      await Promise.all([...stores, ...engines].map((probe) => probe.close()));
    },
  };
}
