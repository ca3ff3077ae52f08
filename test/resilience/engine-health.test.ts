import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createEngineHealth, type EngineHealth } from '../../src/resilience/engine-health.ts';
import { createFakeClock } from '../fakes/clock.ts';
import { idle } from '../fakes/idle.ts';
import { guardHarness } from './harness.ts';

const INTERVAL_MS = 5000;
const OPEN_INTERVAL_MS = 250;
const TIMEOUT_MS = 2000;
const TIMES = { intervalMs: INTERVAL_MS, openIntervalMs: OPEN_INTERVAL_MS, timeoutMs: TIMEOUT_MS };

/** `silent`: no reply until the timeout. */
type Mode = 'up' | 'down' | 'silent';

interface Harness {
  readonly health: EngineHealth;
  /** The behaviour of each engine from now on. */
  readonly modes: Mode[];
  /** From now on `probedAt` has the time of each probe, in ms from now. */
  readonly mark: () => void;
  readonly probedAt: (endpoint?: number) => readonly number[];
  readonly reported: boolean[];
  readonly pass: (ms: number) => Promise<void>;
}

interface HarnessOptions {
  readonly engines?: number;
  readonly random?: number;
  /** Called beside the record in `reported`. */
  readonly onProbe?: (endpoint: number, answers: boolean) => void;
  readonly clock?: ReturnType<typeof createFakeClock>;
}

/** Probed once at the start. The test lets time pass. */
async function createHarness(t: TestContext, options: HarnessOptions = {}): Promise<Harness> {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { engines = 1, clock = createFakeClock() } = options;
  const modes = Array.from({ length: engines }, (): Mode => 'up');
  const probes = modes.map((): number[] => []);
  const reported: boolean[] = [];
  let sinceMs = clock.monotonicMs();
  const health = createEngineHealth({
    engines: modes.map((_, endpoint) => ({
      probe: async () => {
        probes[endpoint]?.push(clock.monotonicMs());
        if (modes[endpoint] === 'silent') await new Promise((done) => setTimeout(done, TIMEOUT_MS));
        if (modes[endpoint] !== 'up') throw new Error('no answer');
      },
    })),
    ...TIMES,
    monotonicMs: clock.monotonicMs,
    random: () => options.random ?? 0.5,
    onProbe: (endpoint, answers) => {
      reported.push(answers);
      options.onProbe?.(endpoint, answers);
    },
  });
  t.after(health.close);
  await idle();
  return {
    health,
    modes,
    reported,
    mark: () => {
      sinceMs = clock.monotonicMs();
      for (const each of probes) each.length = 0;
    },
    probedAt: (endpoint = 0) => probes[endpoint]?.map((ms) => ms - sinceMs) ?? [],
    pass: async (ms) => {
      for (let passed = 0; passed < ms; passed += 10) {
        clock.advance(10);
        t.mock.timers.tick(10);
        await idle();
      }
    },
  };
}

test('an engine that stops answering its probes is unreachable until it answers one', async (t) => {
  const { health, modes, reported, pass } = await createHarness(t);
  assert.deepEqual(health.reachable(), [true]);
  modes[0] = 'silent';
  await pass(INTERVAL_MS + TIMEOUT_MS);
  assert.deepEqual(health.reachable(), [false]);
  modes[0] = 'up';
  await pass(INTERVAL_MS);
  assert.deepEqual([health.reachable(), reported], [[true], [true, false, true]]);
});

test('a probe ends at its timeout', async (t) => {
  let aborted = false;
  const hangs = (signal: AbortSignal): Promise<void> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted = true;
        reject(signal.reason);
      });
    });
  const firstReport = Promise.withResolvers<boolean>();
  const health = createEngineHealth({
    engines: [{ probe: hangs }],
    ...TIMES,
    timeoutMs: 10,
    monotonicMs: () => performance.now(),
    random: () => 0.5,
    onProbe: (_, answers) => firstReport.resolve(answers),
  });
  t.after(health.close);
  // The timer of an AbortSignal does not keep the process alive.
  const alive = setTimeout(() => undefined, 60_000);
  t.after(() => clearTimeout(alive));
  assert.deepEqual([await firstReport.promise, aborted], [false, true]);
});

test('an endpoint with a closed breaker is probed at the ordinary interval, and not after close()', async (t) => {
  const { health, probedAt, pass } = await createHarness(t);
  await pass(2 * INTERVAL_MS);
  assert.deepEqual(probedAt(), [0, INTERVAL_MS, 2 * INTERVAL_MS]);
  health.close();
  await pass(2 * INTERVAL_MS);
  assert.equal(probedAt().length, 3);
});

test('an endpoint with an open breaker is probed quickly until the breaker is closed; the others are not', async (t) => {
  const { health, modes, mark, probedAt, pass } = await createHarness(t, { engines: 2 });
  await pass(1000);
  modes[0] = 'down';
  mark();
  health.breakerIs(0, 'open');
  await pass(1000);
  assert.deepEqual([probedAt(0), probedAt(1)], [[250, 500, 750, 1000], []]);
  health.breakerIs(0, 'half-open');
  await pass(250);
  assert.deepEqual(probedAt().slice(4), [1250]);
  health.breakerIs(0, 'closed');
  await pass(INTERVAL_MS);
  assert.deepEqual(probedAt().slice(5), [1500], 'the probe that was due, and then the ordinary interval');
});

test('quick probes are spread by ±20 %', async (t) => {
  for (const [random, waitMs] of [
    [0, 200],
    [0.5, 250],
    [0.999, 300],
  ] as const) {
    await t.test(`random ${random}: ${waitMs} ms`, async (each) => {
      const { health, modes, mark, probedAt, pass } = await createHarness(each, { random });
      modes[0] = 'down';
      mark();
      health.breakerIs(0, 'open');
      await pass(waitMs);
      assert.deepEqual(probedAt(), [waitMs]);
    });
  }
});

test('an engine that hangs gets one probe at a time, each after twice the last wait, up to the interval', async (t) => {
  const { health, modes, mark, probedAt, pass } = await createHarness(t);
  modes[0] = 'silent';
  mark();
  health.breakerIs(0, 'open');
  await pass(24_750);
  const at = probedAt();
  const waitsMs = at.map((ms, i) => ms - (i === 0 ? 0 : (at[i - 1] ?? 0) + TIMEOUT_MS));
  assert.deepEqual(waitsMs, [250, 500, 1000, 2000, 4000, 5000]);
  modes[0] = 'down';
  mark();
  await pass(5500);
  assert.deepEqual(probedAt(), [5000, 5250, 5500], 'after a probe that is refused at once the wait is short again');
});

test('the result of a probe that was sent before the breaker opened is ignored, and the next probe is quick', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reported: boolean[] = [];
  const replies = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let probes = 0;
  const health = createEngineHealth({
    engines: [{ probe: () => replies[probes++]?.promise ?? Promise.resolve() }],
    ...TIMES,
    monotonicMs: createFakeClock().monotonicMs,
    random: () => 0.5,
    onProbe: (_, answers) => reported.push(answers),
  });
  t.after(health.close);
  health.breakerIs(0, 'open');
  replies[0]?.resolve();
  await idle();
  assert.deepEqual([reported, probes], [[], 1]);
  t.mock.timers.tick(OPEN_INTERVAL_MS);
  replies[1]?.resolve();
  await idle();
  assert.deepEqual([reported, probes], [[true], 2]);
});

test('each closing that does not last doubles the wait before the next probe, up to the interval; a closing that lasts resets it', async (t) => {
  let isOpen = false;
  const { health, mark, probedAt, pass } = await createHarness(t, {
    onProbe: () => {
      if (isOpen) health.breakerIs(0, 'closed');
      isOpen = false;
    },
  });
  const open = (): void => {
    isOpen = true;
    health.breakerIs(0, 'open');
  };
  open();
  const waitAfterOpening = async (): Promise<number | undefined> => {
    mark();
    open();
    await pass(INTERVAL_MS);
    return probedAt()[0];
  };
  await pass(OPEN_INTERVAL_MS);
  const waitsMs: (number | undefined)[] = [];
  for (let i = 0; i < 6; i += 1) waitsMs.push(await waitAfterOpening());
  assert.deepEqual(waitsMs, [500, 1000, 2000, 4000, 5000, 5000]);
  await pass(10_000);
  assert.equal(await waitAfterOpening(), 250);
});

test('the first probe answered after an outage closes the breaker, and the engine is searched again', async (t) => {
  const clock = createFakeClock();
  const { guard, run } = guardHarness(t, {
    clock,
    opensAfter: 4,
    resetMs: 60_000,
    onState: (endpoint, state) => back?.health.breakerIs(endpoint, state),
  });
  let back: Harness | undefined;
  back = await createHarness(t, { clock, onProbe: guard.balancer.reportProbe });
  const { modes, pass } = back;
  modes[0] = 'down';
  const lost = async (): Promise<never> => Promise.reject(new Error('down'));
  for (let i = 0; i < 4; i += 1) await assert.rejects(run(lost), /down/);
  await pass(10_000);
  assert.deepEqual([guard.balancer.state(), guard.balancer.refuses()], ['open', true]);
  modes[0] = 'up';
  await pass(OPEN_INTERVAL_MS);
  assert.equal(guard.balancer.state(), 'closed');
  assert.equal(await run(async () => 'ok'), 'ok');
});
