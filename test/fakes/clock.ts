import type { TestContext } from 'node:test';
import type { Clock } from '../../src/runtime.ts';
import { idle } from './idle.ts';

export interface FakeClock extends Clock {
  /** Advances both clocks. */
  readonly advance: (ms: number) => void;
  /** Steps the wall clock only, as NTP or an operator does. */
  readonly stepWall: (ms: number) => void;
}

export function createFakeClock(wallMs = Date.parse('2026-11-20T12:00:00Z')): FakeClock {
  let wall = wallMs;
  let monotonic = 1_000_000;
  return {
    wallMs: () => wall,
    monotonicMs: () => monotonic,
    advance: (ms) => {
      wall += ms;
      monotonic += ms;
    },
    stepWall: (ms) => {
      wall += ms;
    },
  };
}

/** A fake clock that moves the global timers of Node with it; those of `node:timers/promises` cannot be replaced. */
export interface VirtualTime extends FakeClock {
  /** Advances time in steps, and lets pending work run after each. */
  readonly pass: (ms: number) => Promise<void>;
  /** Lets time pass until `holds` returns true. @throws naming `what` after `MAX_VIRTUAL_MS` */
  readonly until: (what: string, holds: () => boolean | Promise<boolean>) => Promise<void>;
  /** Lets time pass until the work settles. */
  readonly settled: <T>(work: Promise<T>) => Promise<T>;
}

const MAX_VIRTUAL_MS = 600_000;

export function createVirtualTime(t: TestContext, stepMs = 10): VirtualTime {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const clock = createFakeClock();
  const advance = async (): Promise<void> => {
    await idle();
    clock.advance(stepMs);
    t.mock.timers.tick(stepMs);
    await idle();
  };
  /** Callers at the same time share a step: each would wait for the other to be idle. */
  let advancing: Promise<void> | undefined;
  const step = (): Promise<void> => {
    advancing ??= advance().finally(() => {
      advancing = undefined;
    });
    return advancing;
  };
  const pass: VirtualTime['pass'] = async (ms) => {
    const endMs = clock.monotonicMs() + ms;
    while (clock.monotonicMs() < endMs) await step();
  };
  const until: VirtualTime['until'] = async (what, holds) => {
    const endMs = clock.monotonicMs() + MAX_VIRTUAL_MS;
    while (!(await holds())) {
      if (clock.monotonicMs() > endMs) throw new Error(`waited in vain for ${what}`);
      await step();
    }
  };
  return {
    ...clock,
    pass,
    until,
    settled: async (work) => {
      let isOver = false;
      const end = (): boolean => (isOver = true);
      work.then(end, end);
      await until('the work to settle', () => isOver);
      return work;
    },
  };
}
