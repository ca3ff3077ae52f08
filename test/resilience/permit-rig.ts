import type { TestContext } from 'node:test';
import {
  createPermit,
  type Permit,
  type PermitOptions,
  type Priority,
  Refused,
} from '../../src/resilience/concurrency-limiter.ts';
import { createFakeClock, type FakeClock } from '../fakes/clock.ts';
import { idle } from '../fakes/idle.ts';

/** A permit whose time passes in whole milliseconds, timers included, when the test says so. */
export interface PermitRig {
  readonly permit: Permit;
  readonly clock: FakeClock;
  readonly pass: (ms: number) => Promise<void>;
  /** Asks and tells what became of it. The deadline is its patience from now, unless given. */
  readonly ask: (options?: { priority?: Priority; deadlineMs?: number; signal?: AbortSignal }) => Asked;
  /** May be changed at any time. */
  max: number;
}

export interface Asked {
  state: 'waits' | 'runs' | 'released' | Refused['why'];
  /** From asking to running or being refused. */
  waitedMs: number;
  /** @throws when it does not run. */
  readonly release: () => void;
}

export const DEADLINE_MS = 800;
export const PATIENCE_MS = 2000;

export function permitRig(t: TestContext, max: number, options: Partial<PermitOptions> = {}): PermitRig {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const { patienceMs = PATIENCE_MS } = options;
  const permit = createPermit({
    max: () => rig.max,
    maxQueued: 100,
    deadlineMs: DEADLINE_MS,
    patienceMs,
    clock,
    ...options,
  });
  const rig: PermitRig = {
    permit,
    clock,
    max,
    pass: async (ms) => {
      for (let passed = 0; passed < ms; passed += 1) {
        clock.advance(1);
        t.mock.timers.tick(1);
        await idle();
      }
    },
    ask: ({ priority = 'people', deadlineMs = patienceMs, signal } = {}) => {
      const askedAtMs = clock.monotonicMs();
      let give = (): void => undefined;
      const asked: Asked = {
        state: 'waits',
        waitedMs: Number.NaN,
        release: () => {
          if (asked.state !== 'runs') throw new Error(`nothing to release: ${asked.state}`);
          asked.state = 'released';
          give();
        },
      };
      const settle = (state: Asked['state']): void => {
        asked.state = state;
        asked.waitedMs = clock.monotonicMs() - askedAtMs;
      };
      const deadlineAtMs = askedAtMs + deadlineMs;
      permit.acquire({ deadlineAtMs, priority, ...(signal === undefined ? {} : { signal }) }).then(
        (release) => {
          give = release;
          settle('runs');
        },
        (error: unknown) => {
          if (!(error instanceof Refused)) throw error;
          settle(error.why);
        },
      );
      return asked;
    },
  };
  return rig;
}

export function states(asked: readonly Asked[]): string {
  return asked.map(({ state }) => state).join(' ');
}
