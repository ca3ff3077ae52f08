import type { Clock } from '../clock.ts';
import type { StoreContent } from './content.ts';
import { StoreUnreachable } from './content.ts';
import { unlinkOnNode } from './erase-node.ts';
import type { EraseAsk, Erasure } from './flush.ts';
import { pause } from './pause.ts';
import { holdsBucket } from './ranges.ts';
import { keyIn } from './stored-name.ts';

/** One erasure, from its start to its end. */
export interface ErasureRun {
  readonly status: () => Erasure;
  /** Never rejects. */
  readonly finished: Promise<Erasure>;
}

export interface ErasureOptions {
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
  by: EraseAsk['by'];
  state: Erasure['nodes'][number]['state'];
  scanned: number;
  removed: number;
  detail?: string;
}

export function startErasure(ask: EraseAsk, options: ErasureOptions, signal: AbortSignal): ErasureRun {
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

  const doomed = (storeName: string): boolean => holdsBucket(ranges, bucketOf(keyIn(storeName)));
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
