import type { Clock } from '../../src/runtime.ts';

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
