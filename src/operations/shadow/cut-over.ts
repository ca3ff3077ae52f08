import type { Caller } from '../../control/control.ts';
import type { ControlDocument, Placement, StoreRef } from '../../control/document.ts';
import { OperationError } from '../../control/operation-error.ts';
import {
  cancelPrepared,
  clearPlacement,
  commitCutOver,
  prepareCutOver,
  reverseCutOver,
  settle,
} from '../../control/placement.ts';
import { type Clock, pause } from '../../runtime.ts';
import type { DomainShadow, ShadowDomain } from './domain-shadow.ts';
import type { ShadowedStore } from './domain-stores.ts';
import type { Moved, ProcessState, Stopped } from './shadow.ts';

/**
 * The steps of a cut-over, each a change of the control document:
 *
 * 1. **prepare**: every process writes the pages that it computes to both stores, and still reads the old one alone.
 * 2. Every live process has acknowledged 1 in its heartbeat, and has a connection to both stores. Otherwise the preparation is
 *    undone, and the error names the process.
 * 3. **commit**: the new store is read first and holds the leases; the old one is read where the new one has no value, and its
 *    pages are copied. Both are still written, so that the way back loses nothing.
 * 4. **settle**, by an operator: the old store is not used any more.
 */
export type CutOverSteps = ReturnType<typeof createCutOver>;

/** Time for all processes to hear of the preparation (a poll), to connect (seconds) and to say so (a heartbeat). */
const ACKNOWLEDGE_MS = 15_000;
const POLL_MS = 200;
/** After the commit the answer waits for the processes this long; it names those that have not followed by then. */
const FOLLOW_MS = 3000;
/** Before the old store is given up: longer than a process may be silent without being behind. */
const SETTLE_ACKNOWLEDGE_MS = 5000;
/** Without a heartbeat of a starting process in this time, there is none: the interval of heartbeats, and one more. */
const SETTLED_FOR_MS = 2000;

export function createCutOver(options: {
  readonly domain: ShadowDomain;
  readonly shadowed: ShadowedStore;
  readonly follower: Pick<DomainShadow, 'processes' | 'allConfigured'>;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly acknowledgeMs?: number;
}) {
  const { domain, shadowed, follower, newId, clock, acknowledgeMs = ACKNOWLEDGE_MS } = options;
  const { name, control } = domain;
  const { placed } = shadowed;

  /**
   * Waits until no process has been behind for a moment. Undefined: the stores do not tell which processes live.
   * @throws OperationError no-cut-over when the placement `id` is not in force any more
   */
  const acknowledged = async (id: string, timeoutMs: number): Promise<readonly ProcessState[] | undefined> => {
    const untilMs = clock.monotonicMs() + timeoutMs;
    let allSinceMs: number | undefined;
    for (;;) {
      const processes = await follower.processes();
      if (control.document().placement?.id !== id) {
        throw new OperationError('no-cut-over', `the cut-over of ${name} was cancelled or followed by another one`);
      }
      const nowMs = clock.monotonicMs();
      const isComplete = processes?.every(({ state }) => state === 'ok') === true;
      allSinceMs = isComplete ? (allSinceMs ?? nowMs) : undefined;
      const isSettled = allSinceMs !== undefined && nowMs - allSinceMs >= Math.min(SETTLED_FOR_MS, timeoutMs / 2);
      if (isSettled || nowMs >= untilMs) return processes;
      await pause(POLL_MS);
    }
  };

  /** The change is made: a process that does not follow it in time is only named. */
  const followed = async (id: string): Promise<readonly ProcessState[]> =>
    (await acknowledged(id, FOLLOW_MS).catch(() => undefined)) ?? [];

  const candidateOf = ({ shadow }: ControlDocument): StoreRef => {
    if (shadow !== undefined) return shadow.candidate;
    throw new OperationError('no-shadow', `no shadow runs in ${name}: a cut-over goes to the candidate of a shadow`);
  };

  const cutOver = async ({ by }: Caller): Promise<Omit<Moved, 'report'>> => {
    if (!domain.controlElsewhere) {
      throw new OperationError(
        'no-control-store',
        `the control document of ${name} is kept in the store that would be left, and two copies of it would diverge: declare a control store of its own (control:)`,
      );
    }
    const id = newId();
    const from = placed.active();
    const to = candidateOf(control.document());
    await control.change((document) => {
      // The shadow may have been replaced meanwhile: the verdict was about this candidate.
      if (candidateOf(document).fingerprint !== to.fingerprint) {
        throw new OperationError('no-shadow', `the shadow of ${name} goes to another candidate than ${to.name} by now`);
      }
      return prepareCutOver(document, { id, from, to, by, atMs: clock.wallMs() });
    });
    const preparedAtMs = clock.monotonicMs();
    try {
      const processes = await acknowledged(id, acknowledgeMs);
      checkAcknowledged(processes, 'nothing was changed');
      await control.change((document) => commitCutOver(document, id, clock.wallMs()));
    } catch (error) {
      // The reason is worth more than a failed cancel: a preparation that stays is cancelled by any process in two minutes.
      await control.change((document) => cancelPrepared(document, id)).catch(() => undefined);
      throw error;
    }
    const preparedMs = clock.monotonicMs() - preparedAtMs;
    const processes = await followed(id);
    return { domain: name, from, to, preparedMs, processes, configuration: shadowed.configuration(to, from) };
  };

  const checkAcknowledged = (processes: readonly ProcessState[] | undefined, then: string): void => {
    if (processes === undefined) {
      const words = `the live processes of ${name} are not known: its store or the control store does not answer; ${then}`;
      throw new OperationError('cut-over-behind', words);
    }
    const behind = processes.filter(({ state }) => state === 'behind');
    if (behind.length === 0) return;
    const names = behind.map(({ id, problem }) => `process ${id}: ${problem}`).join('; ');
    throw new OperationError('cut-over-behind', `not every process has followed (${names}); ${then}`);
  };

  const committed = (): Placement & { readonly other: StoreRef } => {
    const { placement } = control.document();
    if (placement?.phase === 'committed' && placement.other !== undefined)
      return { ...placement, other: placement.other };
    throw new OperationError('no-cut-over', `no cut-over of ${name} is in force that could be reversed`);
  };

  const back = async ({ by }: Caller): Promise<Moved> => {
    const { id: known, active: from, other: to } = committed();
    if (!placed.answers(to.fingerprint)) {
      const words = `${to.name} does not answer this process: the way back would lose every page`;
      throw new OperationError('candidate-unfit', words);
    }
    const id = newId();
    await control.change((document) => {
      // The second of two calls at once must not undo the first.
      if (document.placement?.id !== known) {
        throw new OperationError('no-cut-over', `the cut-over of ${name} was changed by another call meanwhile`);
      }
      return reverseCutOver(document, { id, by, atMs: clock.wallMs() });
    });
    const processes = await followed(id);
    return { domain: name, from, to, preparedMs: 0, processes, configuration: shadowed.configuration(to, from) };
  };

  /** Cancels a preparation, settles a committed cut-over, or removes a settled placement. @throws OperationError */
  const stop = async (): Promise<Omit<Stopped, 'report'>> => {
    const { placement } = control.document();
    switch (placement?.phase) {
      case undefined:
        throw new OperationError('no-shadow', `no shadow runs in ${name}, and no cut-over is in force`);
      case 'prepared':
        await control.change((document) => cancelPrepared(document, placement.id));
        return { domain: name, ended: 'preparation' };
      case 'committed': {
        const { active, other, id } = committed();
        checkAcknowledged(await acknowledged(id, SETTLE_ACKNOWLEDGE_MS), 'both stores stay in use');
        const isConfigured = await follower.allConfigured(active.fingerprint);
        await control.change((document) => {
          const settled = settle(document, id);
          return isConfigured ? clearPlacement(settled) : settled;
        });
        const configuration = isConfigured ? undefined : shadowed.configuration(active, other);
        return { domain: name, ended: 'old-store', configuration };
      }
      case 'settled': {
        if (!(await follower.allConfigured(placement.active.fingerprint))) {
          throw new OperationError(
            'cut-over-behind',
            `the configuration of some process still names another store than ${placement.active.name}: change the files first, then this record can go`,
          );
        }
        await control.change(clearPlacement);
        return { domain: name, ended: 'old-store' };
      }
    }
  };

  return { cutOver, back, stop };
}
