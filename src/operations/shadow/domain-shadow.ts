import type { Control } from '../../control/control.ts';
import type { ControlDocument, Placement, Shadow, StoreRef } from '../../control/document.ts';
import { cancelPrepared, endShadow } from '../../control/placement.ts';
import { type Clock, waitFor } from '../../runtime.ts';
import type { ShadowedStore } from './domain-stores.ts';
import { createMirror, type Mirror } from './mirror.ts';
import { isConnected, type OpenStore } from './placed-store.ts';
import { createTally, type Reading, readReading, type Tally } from './readings.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import type { ProcessState, ShadowEvent } from './shadow.ts';

/** A domain, as this room uses it. */
export interface ShadowDomain {
  readonly name: string;
  readonly control: Control;
  /** The control document is kept in another store than the entries. */
  readonly controlElsewhere: boolean;
  /** The store of the configuration. */
  readonly configured: StoreRef;
  /** Absent: the domain declares no candidates. */
  readonly shadowed?: ShadowedStore;
}

/** One domain in this process: it follows the control document, copies, counts, and tells the other processes. */
export interface DomainShadow {
  /** The shadow that copies here. */
  readonly running: () => RunningShadow | undefined;
  /** Something that an operator must know. */
  readonly warning: () => string | undefined;
  /**
   * The live processes, and whether each has acknowledged the placement of the present document. Undefined: the stores or
   * the control store do not answer.
   */
  readonly processes: () => Promise<readonly ProcessState[] | undefined>;
  /** Whether every process that acknowledges has this store in its configuration. */
  readonly allConfigured: (fingerprint: string) => Promise<boolean>;
  readonly close: () => void;
}

export interface RunningShadow {
  readonly shadow: Shadow;
  readonly recorder: Recorder;
  readonly mirror: Pick<Mirror, 'isPaused'>;
  /** Monotonic. */
  readonly startedMs: number;
  readonly changes: readonly { readonly atMs: number; readonly fraction: number; readonly reads: number }[];
}

interface DomainShadowOptions extends ShadowDomain {
  readonly processId: string;
  /** Silence of the control store after which both stores are read and written. */
  readonly leaseMs: number;
  /** A preparation that this process has followed for this time is cancelled: the process that began it is gone. */
  readonly abandonedMs?: number;
  /** The delay of the event loop, and the delay above which only searches in memory are answered. */
  readonly loopDelay: () => { readonly loopDelayMs: number; readonly maxLoopDelayMs: number };
  readonly clock: Clock;
  readonly observe: (event: ShadowEvent) => void;
  /** Called when the copies of a shadow have ended here. */
  readonly onEnded: (ended: RunningShadow, why: string) => void;
}

/** The report of a process to the others, through the control store. */
interface Heartbeat {
  /** Rises with each report: the control store keeps the reports of dead processes as long as others report. */
  readonly count: number;
  readonly revision: number;
  readonly configured: string;
  /** The placement that it follows. */
  readonly placement?: { readonly id: string; readonly phase: Placement['phase'] };
  /** Why it cannot follow the document, or not reach a store that the document names. */
  readonly problem?: string;
  readonly reading?: Reading;
}

const PREFIX = 'shadow:';
const HEARTBEAT_MS = 1000;
/** A process whose heartbeat has not changed for this time is behind, whatever it said last. */
const SILENT_MS = 4000;
/** Maximum length of the words of another process. */
const MAX_PROBLEM = 300;
/** Interval between attempts to remove what is over from the control document. */
const REMOVAL_MS = 5000;
const TICK_MS = 500;
const CONNECT_MS = 3000;
/** A preparation takes seconds. */
const ABANDONED_MS = 120_000;
/** Changes of one shadow that its report shows. */
const MAX_CHANGES = 200;

interface Running extends RunningShadow {
  readonly mirror: Mirror;
  readonly tally: Tally;
  shadow: Shadow;
  changes: { readonly atMs: number; readonly fraction: number; readonly reads: number }[];
}

export function createDomainShadow(options: DomainShadowOptions): DomainShadow {
  const { name: domain, control, shadowed, processId, leaseMs, clock, observe, onEnded } = options;
  const { abandonedMs = ABANDONED_MS } = options;
  const placed = shadowed?.placed;
  let running: Running | undefined;
  let isFollowing = true;
  let followed: { readonly id: string; readonly phase: Placement['phase'] } | undefined;
  let heartbeatAtMs = Number.NEGATIVE_INFINITY;
  let count = 0;
  /** When each heartbeat was last seen to change. */
  const changes = new Map<string, { readonly count: number; readonly atMs: number }>();
  let prepared: { readonly id: string; readonly sinceMs: number } | undefined;
  let removalAtMs = Number.NEGATIVE_INFINITY;
  let reported: string | undefined;
  let isReporting = false;
  let closed = false;

  const isLive = ({ untilMs }: Shadow): boolean => clock.wallMs() < untilMs;

  const begin = (shadow: Shadow, stores: ShadowedStore): void => {
    const store = stores.placed.opened(shadow.candidate.fingerprint);
    if (store === undefined) return;
    const startedMs = clock.monotonicMs() - Math.max(0, clock.wallMs() - shadow.atMs);
    const tally = createTally(shadow.id);
    const mirror = createMirror({
      domain,
      ...{ candidate: shadow.candidate, fraction: shadow.fraction, reads: shadow.reads },
      store,
      primary: stores.placed.content,
      deadlineMs: stores.deadlineMs,
      loopDelay: options.loopDelay,
      tally,
      clock,
      observe,
    });
    const recorder = createRecorder({
      startedMs,
      readings: () => readingsOf(shadow.id, tally),
      primary: () => stores.placed,
      candidate: store,
      clock,
    });
    running = { shadow, mirror, tally, recorder, startedMs, changes: [] };
    noteChange(running, 'begun');
    stores.placed.setMirror(mirror);
    void copyWhenConnected(store, mirror);
  };

  /** The commands before the first connection would be counted as errors of the candidate. */
  const copyWhenConnected = async (store: OpenStore, mirror: Mirror): Promise<void> => {
    await waitFor(() => isConnected(store), CONNECT_MS, clock);
    mirror.begin();
  };

  const noteChange = (one: Running, state: 'begun' | 'changed'): void => {
    const { candidate, fraction, reads } = one.shadow;
    one.changes.push({ atMs: Math.max(0, clock.monotonicMs() - one.startedMs), fraction, reads });
    if (one.changes.length > MAX_CHANGES) one.changes.splice(1, 1);
    observe({ kind: 'shadow-changed', domain, candidate: candidate.name, state, fraction, reads });
  };

  const end = (why: string): void => {
    const ended = running;
    if (ended === undefined) return;
    running = undefined;
    placed?.setMirror(undefined);
    ended.mirror.close();
    ended.recorder.close();
    const { candidate, fraction, reads } = ended.shadow;
    observe({ kind: 'shadow-changed', domain, candidate: candidate.name, state: 'ended', fraction, reads });
    placed?.releaseUnused();
    onEnded(ended, why);
  };

  const followShadow = (document: ControlDocument): void => {
    const wanted = document.shadow !== undefined && isLive(document.shadow) ? document.shadow : undefined;
    if (running !== undefined && running.shadow.id !== wanted?.id) end(whyEnded(document, running.shadow));
    if (wanted === undefined || shadowed === undefined || closed) return;
    if (running === undefined) {
      begin(wanted, shadowed);
      return;
    }
    const { fraction, reads } = running.shadow;
    running.shadow = wanted;
    if (fraction === wanted.fraction && reads === wanted.reads) return;
    running.mirror.change(wanted.fraction, wanted.reads);
    noteChange(running, 'changed');
  };

  const followPlacement = ({ placement }: ControlDocument): void => {
    isFollowing = placed === undefined ? isConfigured(placement) : placed.follow(placement);
    placed?.setIsolated(isIsolated());
    const next = placement === undefined ? undefined : { id: placement.id, phase: placement.phase };
    if (next?.id === followed?.id && next?.phase === followed?.phase) return;
    followed = next;
    if (running === undefined) placed?.releaseUnused();
    notePlacement();
    heartbeatAtMs = Number.NEGATIVE_INFINITY;
  };
  /** A process without candidates knows one store: the fleet must use no other. */
  const isConfigured = (placement: Placement | undefined): boolean =>
    placement === undefined ||
    (placement.other === undefined && placement.active.fingerprint === options.configured.fingerprint);

  const notePlacement = (): void => {
    const { placement } = control.document();
    const isolated = placed?.isIsolated() === true;
    const phase = !isFollowing ? 'unknown-store' : isolated ? 'isolated' : (placement?.phase ?? 'configured');
    const active = placed?.active().name ?? 'store';
    const other = placed?.other()?.name;
    observe({ kind: 'placement-changed', domain, phase, active, ...(other === undefined ? {} : { other }) });
  };

  const follow = (): void => {
    const document = control.document();
    followPlacement(document);
    followShadow(document);
    void heartbeat();
  };

  const problem = (): string | undefined => {
    const { placement, shadow } = control.document();
    if (shadow !== undefined && isLive(shadow) && running === undefined) {
      return `its configuration lacks the candidate ${shadow.candidate.name}, or names other addresses for it`;
    }
    if (!isFollowing) {
      const names = [placement?.active.name, placement?.other?.name].filter((one) => one !== undefined);
      return `its configuration lacks a store of the cut-over (${names.join(', ')}), or names other addresses for it`;
    }
    if (placed === undefined || placement?.other === undefined) return undefined;
    // A commit needs both stores. After it, the loss of the old store must not keep anyone from giving it up.
    const isNeeded = ({ fingerprint }: StoreRef): boolean =>
      placement.phase === 'prepared' || fingerprint === placement.active.fingerprint;
    const away = placed.away().find(isNeeded);
    return away === undefined ? undefined : `it has no connection to ${away.name}`;
  };

  const heartbeat = async (): Promise<void> => {
    const document = control.document();
    const isNeeded = running !== undefined || document.placement !== undefined;
    const why = problem();
    const isDue = why !== reported || clock.monotonicMs() - heartbeatAtMs >= HEARTBEAT_MS;
    if (closed || isReporting || !isNeeded || !isDue) return;
    heartbeatAtMs = clock.monotonicMs();
    isReporting = true;
    reported = why;
    count += 1;
    const value: Heartbeat = {
      count,
      revision: document.revision,
      configured: options.configured.fingerprint,
      ...(followed === undefined ? {} : { placement: followed }),
      ...(why === undefined ? {} : { problem: why }),
      ...(running === undefined ? {} : { reading: running.tally.reading() }),
    };
    try {
      await control.report(`${PREFIX}${processId}`, value);
      // Looked at as often as they are sent: a silent process is known before anyone asks.
      await heartbeats();
    } finally {
      isReporting = false;
    }
  };

  const heartbeats = async (): Promise<ReadonlyMap<string, Heartbeat> | undefined> => {
    const reports = await control.reports();
    if (reports === undefined) return undefined;
    const found = new Map(
      [...reports].flatMap(([id, value]): [string, Heartbeat][] =>
        id.startsWith(PREFIX) && isHeartbeat(value) ? [[id.slice(PREFIX.length), value]] : [],
      ),
    );
    const nowMs = clock.monotonicMs();
    for (const id of changes.keys()) if (!found.has(id)) changes.delete(id);
    for (const [id, beat] of found) {
      if (changes.get(id)?.count !== beat.count) changes.set(id, { count: beat.count, atMs: nowMs });
    }
    return found;
  };
  const silentMs = (id: string): number => {
    const changed = changes.get(id);
    return id === processId || changed === undefined ? 0 : clock.monotonicMs() - changed.atMs;
  };

  const readingsOf = async (shadow: string, own: Tally): Promise<ReadonlyMap<string, Reading>> => {
    const found = await heartbeats();
    const others = [...(found ?? [])].flatMap(([id, { reading }]): [string, Reading][] => {
      const known = silentMs(id) > SILENT_MS ? undefined : readReading(reading, shadow);
      return known === undefined ? [] : [[id, known]];
    });
    return new Map([...others, [processId, own.reading()]]);
  };

  const isIsolated = (): boolean => {
    const { placement } = control.document();
    return placement?.other !== undefined && control.state().heardMsAgo > leaseMs;
  };

  const tick = (): void => {
    const document = control.document();
    if (placed !== undefined && placed.isIsolated() !== isIsolated()) {
      placed.setIsolated(isIsolated());
      notePlacement();
    }
    if (running !== undefined && !isLive(running.shadow)) followShadow(document);
    void removeOver(document);
    void heartbeat();
  };
  /** Removes a shadow that has expired, and a preparation whose process is gone. The first of the processes does it. */
  const removeOver = async ({ shadow, placement }: ControlDocument): Promise<void> => {
    const nowMs = clock.monotonicMs();
    // By this process's own clock: wall clocks differ.
    if (placement?.phase !== 'prepared') prepared = undefined;
    else if (prepared?.id !== placement.id) prepared = { id: placement.id, sinceMs: nowMs };
    const expired = shadow !== undefined && !isLive(shadow) ? shadow.id : undefined;
    const gone = prepared !== undefined && nowMs - prepared.sinceMs > abandonedMs ? prepared.id : undefined;
    if ((expired === undefined && gone === undefined) || nowMs - removalAtMs < REMOVAL_MS) return;
    removalAtMs = nowMs;
    await control
      .change((newest) => cancelPrepared(expired === undefined ? newest : endShadow(newest, expired), gone ?? ''))
      // The control store is away: it is tried again.
      .catch(() => undefined);
  };
  const timer = setInterval(tick, TICK_MS).unref();
  control.watch(follow);
  follow();

  return {
    running: () => running,
    warning: () => {
      const why = problem();
      return why === undefined ? undefined : `This process does not follow the fleet: ${why}.`;
    },
    processes: async () => {
      const [found, live] = [await heartbeats(), placed?.liveIds()];
      if (found === undefined || live === undefined) return undefined;
      const { placement } = control.document();
      return [...new Set([...live, processId])]
        .sort()
        .map((id) => stateOf(id, found.get(id), { placement, silentMs: silentMs(id) }));
    },
    allConfigured: async (fingerprint) => {
      const found = await heartbeats();
      const live = placed?.liveIds();
      if (found === undefined || live === undefined) return false;
      return [...live].every((id) => found.get(id)?.configured === fingerprint);
    },
    close: () => {
      closed = true;
      clearInterval(timer);
      end('process stopped');
    },
  };
}

function whyEnded({ shadow, placement, halted }: ControlDocument, ended: Shadow): string {
  if (shadow?.id === ended.id) return 'expired';
  if (halted !== undefined) return `halted by ${halted.by}`;
  return placement?.phase === 'committed' && placement.active.fingerprint === ended.candidate.fingerprint
    ? `cut-over by ${placement.by}`
    : 'stopped';
}

interface Acknowledgement {
  /** Of the present document. */
  readonly placement: Placement | undefined;
  readonly silentMs: number;
}

/** A process that has not heard of the placement, cannot follow it, or says nothing any more is behind. */
function stateOf(id: string, beat: Heartbeat | undefined, { placement, silentMs }: Acknowledgement): ProcessState {
  if (beat === undefined) {
    if (placement === undefined) return { id, state: 'ok' };
    const problem = 'it acknowledges nothing: it is cut off from the control store, declares no candidates or is older';
    return { id, state: 'behind', problem };
  }
  if (placement !== undefined && silentMs > SILENT_MS) {
    const problem = `it has been silent for ${Math.round(silentMs / 1000)} s: it is cut off from the control store, or stands still`;
    return { id, state: 'behind', problem };
  }
  if (beat.problem !== undefined) return { id, state: 'behind', problem: beat.problem.slice(0, MAX_PROBLEM) };
  if (beat.placement?.id === placement?.id && beat.placement?.phase === placement?.phase) return { id, state: 'ok' };
  return { id, state: 'behind', problem: `it still follows revision ${beat.revision} of the control document` };
}

function isHeartbeat(value: unknown): value is Heartbeat {
  if (typeof value !== 'object' || value === null) return false;
  const { count, revision, configured, placement, problem } = value as Readonly<Record<string, unknown>>;
  return (
    typeof count === 'number' &&
    typeof revision === 'number' &&
    typeof configured === 'string' &&
    (problem === undefined || typeof problem === 'string') &&
    (placement === undefined || (typeof placement === 'object' && placement !== null))
  );
}
