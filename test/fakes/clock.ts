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

/** A seeded generator of [0, 1): mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
