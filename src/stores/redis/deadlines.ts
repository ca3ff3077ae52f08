import type { Clock } from '../../runtime.ts';

/**
 * The deadlines of one node's requests. Requests with the same deadline expire in the order in which they were sent, so
 * they stand in one list under one timer, and a request is its own element of that list: joining and leaving are a few
 * assignments, where a timer per request is an object that is made, sorted in and thrown away for every read.
 */
export interface Deadlines {
  /** Calls `member.expire` after `afterMs`, rounded up to whole milliseconds, unless the member leaves before. */
  readonly join: (member: DeadlineMember, afterMs: number) => void;
  /** Does nothing for a member that does not wait. */
  readonly leave: (member: DeadlineMember) => void;
  /** Number of members that wait. */
  readonly size: () => number;
}

/** One request with a deadline. */
export interface DeadlineMember {
  /** Called at most once, and not more than half a millisecond early. */
  readonly expire: () => void;
  /** The list's own: its creator sets it to `undefined`, and nobody else changes it. */
  place: DeadlinePlace | undefined;
}

interface DeadlinePlace {
  readonly member: DeadlineMember | undefined;
  readonly dueAtMs: number;
  older: DeadlinePlace;
  newer: DeadlinePlace;
}

/** Node fires a timer up to 1 ms early by the monotonic clock. Less than this is not worth another timer. */
const EARLY_MS = 0.5;

/** The two ends of an empty list: before the oldest member and after the newest one. */
function createEnds(): DeadlinePlace {
  const ends = { member: undefined, dueAtMs: 0 } as unknown as DeadlinePlace;
  ends.older = ends;
  ends.newer = ends;
  return ends;
}

export function createDeadlines(clock: Pick<Clock, 'monotonicMs'>): Deadlines {
  /** By deadline in milliseconds. Requests that follow a redirect have a shorter one, so there are more than one. */
  const lists = new Map<number, DeadlinePlace>();
  let size = 0;

  const remove = ({ older, newer }: DeadlinePlace, member: DeadlineMember): void => {
    older.newer = newer;
    newer.older = older;
    member.place = undefined;
    size -= 1;
  };

  /** Expires the members that are due. @returns the time until the next one is due; undefined when none waits. */
  const expireDue = (ends: DeadlinePlace): number | undefined => {
    for (;;) {
      const { newer: oldest } = ends;
      if (oldest.member === undefined) return undefined;
      const leftMs = oldest.dueAtMs - clock.monotonicMs();
      if (leftMs > EARLY_MS) return leftMs;
      remove(oldest, oldest.member);
      oldest.member.expire();
    }
  };

  /**
   * The timer is set for the oldest member and stays when that member leaves, so under traffic it fires about once per
   * deadline and is set again for the member that is the oldest then. It keeps no process alive; the sockets do.
   */
  const watch = (ends: DeadlinePlace, afterMs: number, delayMs: number): void => {
    const onTimer = (): void => {
      const leftMs = expireDue(ends);
      if (leftMs === undefined) lists.delete(afterMs);
      else watch(ends, afterMs, Math.ceil(leftMs));
    };
    setTimeout(onTimer, delayMs).unref();
  };

  return {
    join: (member, wantedMs) => {
      const afterMs = Math.max(1, Math.ceil(wantedMs));
      let ends = lists.get(afterMs);
      if (ends === undefined) {
        ends = createEnds();
        lists.set(afterMs, ends);
        watch(ends, afterMs, afterMs);
      }
      const place = { member, dueAtMs: clock.monotonicMs() + afterMs, older: ends.older, newer: ends };
      ends.older.newer = place;
      ends.older = place;
      member.place = place;
      size += 1;
    },
    leave: (member) => {
      if (member.place !== undefined) remove(member.place, member);
    },
    size: () => size,
  };
}
