import type { Control } from '../../control/control.ts';
import type { ControlDocument, Placement, Shadow, StoreRef } from '../../control/document.ts';
import { cancelPrepared, endShadow } from '../../control/placement.ts';
import { type Clock, waitFor } from '../../runtime.ts';
import type { ShadowedStore } from './domain-stores.ts';
import { createShadowHeartbeats } from './heartbeats.ts';
import { createMirror, type Mirror } from './mirror.ts';
import { isConnected, type OpenStore } from './placed-store.ts';
import { createShadowTally, type ShadowTally } from './readings.ts';
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
export type DomainShadow = ReturnType<typeof createDomainShadow>;

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

const HEARTBEAT_MS = 1000;
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
  readonly tally: ShadowTally;
  shadow: Shadow;
  changes: { readonly atMs: number; readonly fraction: number; readonly reads: number }[];
}

export function createDomainShadow(options: DomainShadowOptions) {
  const { name: domain, control, shadowed, processId, leaseMs, clock, observe, onEnded } = options;
  const { abandonedMs = ABANDONED_MS } = options;
  const placed = shadowed?.placed;
  let running: Running | undefined;
  let isFollowing = true;
  let followed: { readonly id: string; readonly phase: Placement['phase'] } | undefined;
  let heartbeatAtMs = Number.NEGATIVE_INFINITY;
  const heartbeats = createShadowHeartbeats({ control, processId, clock });
  let prepared: { readonly id: string; readonly sinceMs: number } | undefined;
  let removalAtMs = Number.NEGATIVE_INFINITY;
  let reported: string | undefined;
  let isReporting = false;
  let closed = false;

  const isLive = ({ untilMs }: Shadow): boolean => clock.wallMs() < untilMs;

  const activeRef = (): StoreRef => placed?.active() ?? options.configured;

  const begin = (shadow: Shadow, stores: ShadowedStore): void => {
    const { fingerprint } = shadow.candidate;
    // A store that is compared with itself always agrees.
    const store = fingerprint === activeRef().fingerprint ? undefined : stores.placed.opened(fingerprint);
    if (store === undefined) return;
    const startedMs = clock.monotonicMs() - Math.max(0, clock.wallMs() - shadow.atMs);
    const tally = createShadowTally(shadow.id);
    const mirror = createMirror({
      domain,
      candidate: shadow.candidate,
      fraction: shadow.fraction,
      reads: shadow.reads,
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
      readings: () => heartbeats.readings(tally.reading()),
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
    observe({ kind: 'placement-changed', domain, phase, active, other });
  };

  const follow = (): void => {
    const document = control.document();
    followPlacement(document);
    followShadow(document);
    void heartbeat();
  };

  const problem = (): string | undefined => {
    const { placement, shadow } = control.document();
    if (shadow !== undefined && isLive(shadow)) {
      const { name, fingerprint } = shadow.candidate;
      if (fingerprint === activeRef().fingerprint) return `it uses the candidate ${name} as its store already`;
      if (running === undefined)
        return `its configuration lacks the candidate ${name}, or names other addresses for it`;
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
    const { shadow, placement } = document;
    const isNeeded = placement !== undefined || (shadow !== undefined && isLive(shadow));
    const why = problem();
    const isDue = why !== reported || clock.monotonicMs() - heartbeatAtMs >= HEARTBEAT_MS;
    if (closed || isReporting || !isNeeded || !isDue) return;
    heartbeatAtMs = clock.monotonicMs();
    isReporting = true;
    reported = why;
    const beat = {
      revision: document.revision,
      configured: options.configured.fingerprint,
      placement: followed,
      problem: why,
      reading: running?.tally.reading(),
    };
    await heartbeats.send(beat).finally(() => {
      isReporting = false;
    });
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
    /** The shadow that copies here. */
    running: (): RunningShadow | undefined => running,
    /** Something that an operator must know. */
    warning: (): string | undefined => {
      const why = problem();
      return why === undefined ? undefined : `This process does not follow the fleet: ${why}.`;
    },
    /**
     * The live processes, and whether each has acknowledged the placement of the present document. Undefined: the stores or
     * the control store do not answer.
     */
    processes: (): Promise<readonly ProcessState[] | undefined> => {
      const { placement, shadow } = control.document();
      const isShadowed = shadow !== undefined && isLive(shadow);
      return heartbeats.processes(placed?.liveIds(), { placement, isShadowed });
    },
    /** Whether every process that acknowledges has this store in its configuration. */
    allConfigured: (fingerprint: string): Promise<boolean> => heartbeats.allConfigured(placed?.liveIds(), fingerprint),
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
