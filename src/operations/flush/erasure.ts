import { OperationRefused } from '../../control/operation-error.ts';
import type { Clock } from '../../runtime.ts';
import { type StoreContent, StoreUnreachable } from './content.ts';
import type { EraseRequest, Erasure, FlushEvent } from './flush.ts';
import { includesBucket, keyOfStoreName } from './preview.ts';

/** One erasure, from its start to its end. */
interface ErasureRun {
  readonly status: () => Erasure;
  /** Never rejects. */
  readonly finished: Promise<Erasure>;
}

interface ErasureOptions {
  readonly content: StoreContent;
  readonly bucketOf: (key: string) => number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Keys removed a second, of each node. */
  readonly keysPerSecond: number;
  /** Before the first key goes: until every process knows that it is flushed. */
  readonly delayMs: number;
}

/** Nodes that are unlinked at one time. */
const SIDE_BY_SIDE = 8;
/** A node that took over during an erasure has what its predecessor had; a store that changes for ever is given up. */
const MAX_ROUNDS = 3;

interface NodeErasure {
  node: string;
  by: EraseRequest['by'];
  state: Erasure['nodes'][number]['state'];
  scanned: number;
  removed: number;
  detail?: string;
}

function startErasure(ask: EraseRequest, options: ErasureOptions, signal: AbortSignal): ErasureRun {
  const { content, bucketOf, clock, keysPerSecond, delayMs } = options;
  const { ranges, by } = ask;
  const startedMs = clock.monotonicMs();
  const nodes: NodeErasure[] = [];
  let endedMs: number | undefined;

  /** Those that came since are among them. */
  const waiting = (): readonly NodeErasure[] => {
    const known = new Set(nodes.map(({ node }) => node));
    for (const node of ask.nodes ?? content.nodes()) {
      if (!known.has(node)) nodes.push({ node, by, state: 'waiting', scanned: 0, removed: 0 });
    }
    return nodes.filter(({ state }) => state === 'waiting');
  };

  const doomed = (storeName: string): boolean => includesBucket(ranges, bucketOf(keyOfStoreName(storeName)));
  const eraseNode = async (one: NodeErasure): Promise<void> => {
    if (signal.aborted) return;
    one.state = 'running';
    try {
      if (by === 'flushall') await flushNode(one, content);
      else await unlinkOnNode(one.node, one, { content, doomed, clock, keysPerSecond }, signal);
      one.state = signal.aborted && by === 'unlink' ? 'stopped' : 'done';
    } catch (error) {
      one.state = 'failed';
      one.detail = error instanceof StoreUnreachable ? error.message : String(error);
    }
  };

  const run = async (): Promise<Erasure> => {
    await pause(delayMs, signal);
    for (let round = 0, next = waiting(); next.length > 0 && round < MAX_ROUNDS && !signal.aborted; round += 1) {
      // Whole nodes go one after another: each leaves the others time to be refilled from.
      await inTurns(next, by === 'flushall' ? 1 : SIDE_BY_SIDE, eraseNode);
      next = waiting();
    }
    for (const one of nodes) if (one.state === 'waiting') one.state = 'stopped';
    endedMs = clock.monotonicMs();
    return status();
  };

  const status = (): Erasure => ({
    state: endedMs === undefined ? 'running' : endOf(nodes),
    nodes: nodes.map((one) => ({ ...one })),
    seconds: ((endedMs ?? clock.monotonicMs()) - startedMs) / 1000,
  });

  waiting();
  return { status, finished: run() };
}

function endOf(nodes: readonly NodeErasure[]): 'done' | 'failed' | 'stopped' {
  if (nodes.some(({ state }) => state === 'failed')) return 'failed';
  return nodes.some(({ state }) => state === 'stopped') ? 'stopped' : 'done';
}

async function flushNode(one: NodeErasure, content: StoreContent): Promise<void> {
  const keys = await content.count(one.node);
  await content.flushNode(one.node);
  one.scanned = keys;
  one.removed = keys;
}

async function inTurns<T>(items: readonly T[], maxAtOnce: number, act: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, items.length) }, worker));
}

/** The erasures of one domain in this process, one at a time: two would be twice the rate that nodes were promised. */
interface Erasures {
  readonly latest: () => Erasure | undefined;
  /** Until it is over. @throws OperationRefused erasure-running, no-store */
  readonly now: (ask: EraseRequest, signal: AbortSignal) => Promise<Erasure>;
  /**
   * Begins `delayMs` after `raise` is done, behind the caller's back; not at all when that throws.
   * @throws OperationRefused erasure-running, no-store; then `raise` was not called. What `raise` throws.
   */
  readonly after: <Result>(ask: EraseRequest, delayMs: number, raise: () => Promise<Result>) => Promise<Result>;
  readonly close: () => void;
}

interface ErasuresOptions {
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

  const start = async (ask: EraseRequest, delayMs: number, signal: AbortSignal): Promise<Erasure> => {
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

interface EraseNodeOptions {
  readonly content: StoreContent;
  readonly doomed: (storeName: string) => boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Removed a second. */
  readonly keysPerSecond: number;
}

/** Names of this domain that were looked at, and those that were removed. */
interface EraseProgress {
  scanned: number;
  removed: number;
}

/** At most so many in one step, so that people's reads find their way in between. */
const STEP_KEYS = 500;
/** SCAN may name more than it was asked for. */
const MAX_UNLINK = 512;
/** Looking costs a tenth of removing, or less: a small fraction of a large store does not take hours. */
const SCANNED_PER_REMOVED = 10;
/** A node that fails now and then is asked again after 0.5, 1, 2, 4 s. */
const MAX_FAILURES = 5;
const FIRST_WAIT_MS = 500;

/**
 * SCAN and UNLINK, step by step, paced from the start of each step. Ends early when the signal says so.
 * @throws StoreUnreachable when the node fails too often
 */
async function unlinkOnNode(
  node: string,
  progress: EraseProgress,
  { content, doomed, clock, keysPerSecond }: EraseNodeOptions,
  signal: AbortSignal,
): Promise<void> {
  const stepKeys = Math.max(1, Math.min(STEP_KEYS, Math.floor(keysPerSecond / 4)));
  const step = async (cursor: string): Promise<string> => {
    const beganMs = clock.monotonicMs();
    const { cursor: next, names } = await content.scan(node, cursor, stepKeys);
    progress.scanned += names.length;
    const going = names.filter(doomed);
    for (let at = 0; at < going.length && !signal.aborted; at += MAX_UNLINK) {
      progress.removed += await content.unlink(node, going.slice(at, at + MAX_UNLINK));
    }
    const cost = Math.max(going.length, stepKeys / SCANNED_PER_REMOVED);
    await pause((cost * 1000) / keysPerSecond - (clock.monotonicMs() - beganMs), signal);
    return next;
  };

  let failures = 0;
  for (let cursor = '0'; !signal.aborted; ) {
    try {
      cursor = await step(cursor);
      if (cursor === '0') return;
    } catch (error) {
      failures += 1;
      if (!(error instanceof StoreUnreachable) || failures === MAX_FAILURES) throw error;
      // Perhaps it was started anew, and a cursor means nothing to another table: from the beginning.
      cursor = '0';
      await pause(FIRST_WAIT_MS * 2 ** (failures - 1), signal);
    }
  }
}

/** Resolves after so long, or when the signal says stop. Keeps no process alive. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    signal.addEventListener('abort', end);
  });
}
