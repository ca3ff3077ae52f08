import { readFileSync, statSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedStatus } from '../../changes/feed.ts';
import type { DomainSettings, Settings } from '../../config/settings.ts';
import type { Control } from '../../control/control.ts';
import { type Clock, type Runtime, repeat } from '../../runtime.ts';
import type { Meter } from '../meter/meter.ts';
import {
  type Acknowledgements,
  acknowledge,
  MAX_ACKNOWLEDGEMENT_BYTES,
  NO_ACKNOWLEDGEMENTS,
  readAcknowledgements,
} from './acknowledge.ts';
import { type Check, isCheap } from './check.ts';
import { CHECK_IDS, CHECKS } from './checks/checks.ts';
import { configurationDigest, createFleet, type Fleet } from './collect/fleet.ts';
import { createHostReader } from './collect/host.ts';
import { createStoreCollector } from './collect/store.ts';
import type { DoctorEvent, EngineProbe, Examination, ReadHost, ReadService, StoreProbe } from './doctor.ts';
import type { Snapshot } from './facts.ts';
import { createJudge, diagnose, type Judge } from './judge.ts';
import type { Enabled, EnableName, Finding, HistoryLine, Standing } from './report.ts';

const MAX_HISTORY = 500;
/** An examination this short after another one is judged with its findings: hysteresis from one to the next. */
const SAME_VISIT_MS = 60_000;
/** Commands of `enable`, by its names. */
export const ENABLES: Readonly<Record<EnableName, readonly (readonly string[])[]>> = {
  slowlog: [
    ['CONFIG', 'SET', 'slowlog-log-slower-than', '10000'],
    ['CONFIG', 'SET', 'slowlog-max-len', '512'],
  ],
  'latency-monitor': [['CONFIG', 'SET', 'latency-monitor-threshold', '50']],
  reset: [
    ['SLOWLOG', 'RESET'],
    ['LATENCY', 'RESET'],
  ],
};

/** The doctor of one process: looks at every store, engine and host, and tells findings. It changes nothing. */
export type Doctor = ReturnType<typeof createDoctor>;

export function createDoctor(options: {
  readonly examiner: Examiner;
  /** For `enable`. */
  readonly stores: readonly StoreProbe[];
  /** Time between two windows of the cheap checks; 0: they do not run. */
  readonly intervalMs: number;
  /** The file of acknowledgements; read at each judgement. */
  readonly acknowledged?: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: DoctorEvent) => void;
}) {
  const { examiner, stores, intervalMs, acknowledged: file, clock, random, observe } = options;
  const cheap = CHECKS.filter(isCheap);
  const standingJudge = createJudge(cheap);
  const history: HistoryLine[] = [];
  let standing: Standing | undefined;
  let previous: Snapshot | undefined;
  let closed = false;
  let visit: { readonly judge: Judge; readonly endedMs: number } | undefined;

  const note = (change: HistoryLine['change'], findings: readonly Finding[]): void => {
    for (const { check, severity, subject, evidence } of findings) {
      const line = { atMs: clock.wallMs(), change, check, severity, subject, evidence };
      history.push(line);
      if (history.length > MAX_HISTORY) history.shift();
      observe({ kind: 'doctor-finding', line });
    }
  };

  const lookOnce = async (): Promise<void> => {
    const beganMs = clock.monotonicMs();
    const snapshot = await examiner.snapshot('cheap');
    // Its probes were closed meanwhile: silent servers would be findings.
    if (closed) return;
    if (previous !== undefined) {
      const seconds = (snapshot.atMs - previous.atMs) / 1000;
      const { raised, cleared } = standingJudge.add({ before: previous, after: snapshot, seconds });
      note('raised', raised);
      note('cleared', cleared);
      const sorted = acknowledge(standingJudge.findings(), acknowledgementsIn(file, clock.wallMs()));
      standing = { atMs: snapshot.wallMs, ...sorted, counts: countsOf(sorted.findings) };
      const findings = countedByCheck(cheap, sorted.findings);
      observe({ kind: 'doctor-window', findings, durationMs: clock.monotonicMs() - beganMs });
    }
    previous = snapshot;
  };
  /** No probe and no check rejects; should one do so, searches go on, and the next look too. */
  const tryLook = (): Promise<void> =>
    lookOnce().catch((error: unknown) => observe({ kind: 'doctor-failed', detail: String(error) }));
  // Processes of a fleet start together; they look at different moments.
  const firstMs = Math.min(1000, intervalMs) * random();
  const endLooks = intervalMs > 0 ? repeat(tryLook, () => intervalMs, firstMs) : undefined;

  const examineNow = async (windowMs: number | undefined): Promise<Examination> => {
    const beganMs = clock.monotonicMs();
    const snapshots = await examiner.series(windowMs);
    const endedMs = clock.monotonicMs();
    const isSame = visit !== undefined && beganMs - visit.endedMs < SAME_VISIT_MS;
    const judge = (isSame ? visit?.judge : undefined) ?? createJudge(CHECKS);
    visit = { judge, endedMs };
    const acknowledgements = acknowledgementsIn(file, clock.wallMs());
    return { report: diagnose(snapshots, { acknowledgements, tookMs: endedMs - beganMs, judge }), snapshots };
  };
  let examining: Promise<Examination> | undefined;

  return {
    /**
     * Takes four snapshots, `windowMs` apart, and judges the three windows between them. Callers at the same time share one
     * examination.
     */
    examine: ({ windowMs }: { readonly windowMs?: number } = {}): Promise<Examination> => {
      examining ??= examineNow(windowMs).finally(() => {
        examining = undefined;
      });
      return examining;
    },
    /** The findings of the cheap checks, which run at intervals; undefined before the first window has ended. */
    standing: () => standing,
    /** When findings of the cheap checks were raised and cleared, oldest first; bounded. */
    history: (): readonly HistoryLine[] => history,
    /** Changes one diagnostic setting of every node that keeps data; a node that refuses is told with its words. */
    enable: (name: EnableName) => enable(name, stores),
    close: async () => {
      closed = true;
      endLooks?.();
      await examiner.close();
    },
  };
}

/** Zeroes included, so that a metric falls to 0 when its finding is gone. */
function countedByCheck(checks: readonly Check[], findings: readonly Finding[]) {
  return checks.map(({ id, severity }) => ({
    check: id,
    severity,
    count: findings.filter(({ check }) => check === id).length,
  }));
}

function countsOf(findings: readonly Finding[]): Standing['counts'] {
  const count = (severity: Finding['severity']): number => findings.filter((one) => one.severity === severity).length;
  return { critical: count('critical'), warning: count('warning'), info: count('info') };
}

/** A file that cannot be read acknowledges nothing, and the report says so. */
export function acknowledgementsIn(file: string | undefined, nowMs: number): Acknowledgements {
  if (file === undefined) return NO_ACKNOWLEDGEMENTS;
  try {
    if (statSync(file).size > MAX_ACKNOWLEDGEMENT_BYTES) {
      return { entries: [], faults: [`${file} is larger than ${MAX_ACKNOWLEDGEMENT_BYTES} bytes, and is not read`] };
    }
    return readAcknowledgements(readFileSync(file, 'utf8'), nowMs, CHECK_IDS);
  } catch (error) {
    return { entries: [], faults: [`${file} cannot be read: ${error instanceof Error ? error.message : error}`] };
  }
}

async function enable(name: EnableName, stores: readonly StoreProbe[]): Promise<Enabled> {
  const commands = ENABLES[name];
  const texts = commands.map((command) => command.join(' '));
  const changed = await Promise.all(
    stores.map(async (probe) => {
      const listed = await probe.nodes();
      // A store that cannot be reached must not look like one that was changed.
      if ('skipped' in listed) return [{ node: probe.facts.name, commands: texts, refused: listed.skipped }];
      const data = listed.known.filter(({ role }) => role !== 'sentinel');
      return Promise.all(
        data.map(async ({ address }) => {
          for (const command of commands) {
            const reply = await probe.change(address, command);
            if (reply.kind !== 'reply') return { node: address, commands: texts, refused: reply.detail };
          }
          return { node: address, commands: texts };
        }),
      );
    }),
  );
  return { name, nodes: changed.flat() };
}

// --- of a running service ---------------------------------------------------------------------------------------------

/** One domain, as the doctor reads it. */
interface ReadDomain {
  readonly name: string;
  readonly settings: Pick<DomainSettings, 'freshness' | 'engine' | 'store'>;
  readonly meter: Pick<Meter, 'read' | 'counts'>;
  readonly changes: { readonly status: () => FeedStatus } | undefined;
}

interface ServiceReaderOptions {
  readonly processId: string;
  readonly domains: readonly ReadDomain[];
  readonly fleet: Pick<Fleet, 'read'>;
  /** The delay of the event loop. */
  readonly loopDelay: () => { readonly loopDelayMs: number };
}

/** Reads the figures of this process. */
export function createServiceReader(options: ServiceReaderOptions): ReadService {
  const { processId, domains, fleet, loopDelay } = options;
  return async () => {
    // Before the fleet is asked, which takes a round trip: the counters are of the snapshot's moment.
    const loop = { delayMs: loopDelay().loopDelayMs };
    const read = domains.map(({ name, settings, meter, changes }) => {
      const { outcomes, engine } = meter.read();
      const { queued, inFlight, maxConcurrent, ceiling } = engine;
      const { freshness, store } = settings;
      return {
        domain: name,
        settings: {
          ttlMs: freshness.ttlMs,
          engineMaxConcurrent: settings.engine.maxConcurrent,
          storeDeadlineMs: store.kind === 'none' ? undefined : store.deadlineMs,
        },
        feed: changes?.status(),
        outcomes,
        engine: { queued, inFlight, maxConcurrent, ceiling },
        ...meter.counts(),
      };
    });
    return { processId, loop, domains: read, fleet: await fleet.read() };
  };
}

/** The probes of a process, which the doctor closes. */
export interface Probes {
  readonly stores: readonly StoreProbe[];
  readonly engines: readonly EngineProbe[];
}

interface ServiceDoctorOptions
  extends Pick<ServiceReaderOptions, 'loopDelay'>,
    Pick<Runtime<never>, 'processId' | 'clock' | 'random'> {
  readonly settings: Settings;
  readonly probes: Probes;
  readonly domains: readonly (ServiceReaderOptions['domains'][number] & { readonly control: Control })[];
  readonly observe: (event: DoctorEvent) => void;
}

/** The doctor of a running service. */
export function openServiceDoctor(options: ServiceDoctorOptions): Doctor {
  const { settings, probes, domains, processId, clock, random, observe } = options;
  const { intervalMs, acknowledged } = settings.doctor;
  const fleet = createFleet({
    processId,
    clock,
    random,
    configuration: configurationDigest(settings),
    controls: domains.map(({ control }) => control),
  });
  const examiner = createExaminer({
    ...probes,
    clock,
    random,
    readHost: createHostReader({ role: 'service', clock }),
    readService: createServiceReader({ ...options, fleet }),
  });
  const doctor = createDoctor({
    examiner,
    stores: probes.stores,
    intervalMs,
    acknowledged,
    clock,
    random,
    observe,
  });
  return {
    ...doctor,
    close: async () => {
      fleet.close();
      await doctor.close();
    },
  };
}

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
