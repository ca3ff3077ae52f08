import { OperationError } from '../../src/control/operation-error.ts';
import type { WarmRequest, WarmUp } from '../../src/operations/warm/warm.ts';
import type { WarmUps } from '../../src/operations/warm/warm-ups.ts';
import type { Clock } from '../../src/runtime.ts';

interface Running {
  readonly id: string;
  readonly ask: WarmRequest;
  readonly startedMs: number;
  taken: number;
  stoppedMs: number | undefined;
  last: boolean;
}

const MAX_WAITING = 1000;

/** Settles its queries at the requested rate, following the clock only. */
export function createFakeWarmUps(options: { readonly clock: Clock }): WarmUps {
  const { clock } = options;
  const all: Running[] = [];

  const look = ({ id, ask, startedMs, taken, stoppedMs, last }: Running): WarmUp => {
    const seconds = ((stoppedMs ?? clock.monotonicMs()) - startedMs) / 1000;
    const settled = Math.min(taken, Math.floor(seconds * ask.maxPerSecond));
    const cached = Math.floor(settled * 0.3);
    const isDone = last && settled === taken;
    const waiting = settled === taken ? 'waiting' : 'running';
    return {
      id,
      domain: ask.domain,
      from: ask.from,
      taken,
      settled,
      cached,
      computed: settled - cached,
      invalid: 0,
      state: isDone ? 'done' : stoppedMs === undefined ? waiting : 'stopped',
      failed: 0,
      seconds,
    };
  };
  const find = (id: string): Running => {
    const warmUp = all.find((each) => each.id === id);
    if (warmUp === undefined) throw new OperationError('unknown-warm-up', `There is no warm-up ${id}.`);
    return warmUp;
  };

  return {
    start: (ask) => {
      const isOn = ({ state }: WarmUp): boolean => state === 'running' || state === 'waiting';
      const other = all.map(look).find((each) => each.domain === ask.domain && isOn(each));
      if (other !== undefined) throw new OperationError('warm-up-running', `Warm-up ${other.id} runs there already.`);
      const isPopular = ask.from === 'popular';
      const started: Running = {
        id: `warm-${all.length + 1}`,
        ask,
        startedMs: clock.monotonicMs(),
        stoppedMs: undefined,
        taken: isPopular ? (ask.top ?? 1000) : 0,
        last: isPopular,
      };
      all.push(started);
      return look(started);
    },
    feed: (id, queries, last) => {
      const warmUp = find(id);
      if (warmUp.ask.from !== 'queries' || warmUp.last) {
        throw new OperationError('invalid-request', 'This warm-up takes no queries.');
      }
      const { settled } = look(warmUp);
      const taken = Math.min(queries.length, MAX_WAITING - (warmUp.taken - settled));
      warmUp.taken += taken;
      warmUp.last = last && taken === queries.length;
      return { taken, warmUp: look(warmUp) };
    },
    stop: (id) => {
      const warmUp = find(id);
      warmUp.stoppedMs ??= clock.monotonicMs();
      return look(warmUp);
    },
    list: () => all.map(look),
    close: () => {},
  };
}
