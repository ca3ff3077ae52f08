import type { Clock } from '../clock.ts';
import { OperationRefused } from '../control/refusal.ts';
import type { StoreContent } from './content.ts';
import { type ErasureRun, startErasure } from './erasure.ts';
import type { FlushEvent } from './events.ts';
import type { EraseAsk, Erasure } from './flush.ts';

/** The erasures of one domain in this process, one at a time: two would be twice the rate that nodes were promised. */
export interface Erasures {
  readonly latest: () => Erasure | undefined;
  /** Until it is over. @throws OperationRefused erasure-running, no-store */
  readonly now: (ask: EraseAsk, signal: AbortSignal) => Promise<Erasure>;
  /**
   * Begins `delayMs` after `raise` is done, behind the caller's back; not at all when that throws.
   * @throws OperationRefused erasure-running, no-store; then `raise` was not called. What `raise` throws.
   */
  readonly after: <Result>(ask: EraseAsk, delayMs: number, raise: () => Promise<Result>) => Promise<Result>;
  readonly close: () => void;
}

export interface ErasuresOptions {
  readonly domain: string;
  readonly content?: StoreContent;
  readonly bucketOf: (key: string) => number;
  readonly keysPerSecond: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly observe: (event: FlushEvent) => void;
}

const NOTHING_TO_ERASE: Erasure = { state: 'done', nodes: [], seconds: 0 };

export function createErasures(options: ErasuresOptions): Erasures {
  const { domain, content, bucketOf, keysPerSecond, clock, observe } = options;
  const closing = new AbortController();
  let latest: (() => Erasure) | undefined;
  /** Taken before the floor is raised, so that of two that come together the second changes nothing. */
  let taken = false;

  const take = (): void => {
    if (taken) {
      throw new OperationRefused('erasure-running', `an erasure of ${domain} runs in this process: wait for its end`);
    }
    if (content?.nodes().length === 0) {
      throw new OperationRefused('no-store', `the store of ${domain} has not been reached yet: nobody knows its nodes`);
    }
    taken = true;
  };

  const start = async (ask: EraseAsk, delayMs: number, signal: AbortSignal): Promise<Erasure> => {
    if (content === undefined) {
      latest = () => NOTHING_TO_ERASE;
      taken = false;
      return NOTHING_TO_ERASE;
    }
    const run: ErasureRun = startErasure(ask, { content, bucketOf, clock, keysPerSecond, delayMs }, signal);
    latest = run.status;
    const over = await run.finished;
    taken = false;
    say(over);
    return over;
  };

  const say = ({ state, nodes, seconds }: Erasure): void => {
    if (state === 'running') return;
    const removed = nodes.reduce((sum, node) => sum + node.removed, 0);
    const detail = nodes.flatMap((node) => node.detail ?? []).join(' ');
    const durationMs = seconds * 1000;
    observe({ kind: 'erasure', domain, state, removed, durationMs, ...(detail !== '' && { detail }) });
  };

  return {
    latest: () => latest?.(),
    now: async (ask, signal) => {
      take();
      return start(ask, 0, AbortSignal.any([signal, closing.signal]));
    },
    after: async (ask, delayMs, raise) => {
      take();
      try {
        const result = await raise();
        void start(ask, delayMs, closing.signal);
        return result;
      } catch (error) {
        taken = false;
        throw error;
      }
    },
    close: () => closing.abort(),
  };
}
