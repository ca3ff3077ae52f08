import { setTimeout as sleep } from 'node:timers/promises';
import type { Indexer } from './indexer.ts';
import { askAll, GRACE_MS } from './load.ts';
import { shownTooLate } from './oracle.ts';
import type { Fleet } from './phase.ts';
import type { Searches } from './searches.ts';
import type { FreshnessStack } from './stack.ts';

export interface FaultParts {
  readonly stack: FreshnessStack;
  readonly fleet: Fleet;
  readonly searches: Searches;
  readonly indexer: Indexer;
}

export interface FaultFigure {
  readonly name: string;
  /** Documents of the replica's pages that were sold during the fault. */
  readonly sold: number;
  /** Those of them that were shown by the replica when each page was asked for after the fault. */
  readonly shownAfter: number;
  /** The same while the fault lasted, where the replica answers then. */
  readonly shownMeanwhile: number | undefined;
}

const PLANTED = 300;
const SOLD = 200;
const FAULT_MS = 10_000;

/**
 * The answers of one replica after a fault: documents of its pages are sold during the fault, and then each page is asked of it again,
 * the most popular first.
 */
async function provoked(
  { fleet, searches, indexer }: FaultParts,
  fault: {
    readonly name: string;
    readonly at: number;
    readonly begin: () => unknown;
    /** Resolves when the replica answers again, and the fault is over. */
    readonly end: () => Promise<unknown>;
    readonly answersMeanwhile?: true;
    /** Time from the end of the fault to the first search. */
    readonly graceMs?: number;
  },
): Promise<FaultFigure> {
  const target = fleet.targets[fault.at];
  if (target === undefined) throw new Error(`there is no replica ${fault.at}`);
  const planted = searches.repeated.slice(0, PLANTED);
  const ids = new Set<string>();
  await askAll(target, planted, ({ items }) => {
    for (const id of items.keys()) if (ids.size < SOLD) ids.add(id);
  });
  target.excusedUntilMs = Number.POSITIVE_INFINITY;
  await fault.begin();
  const startedMs = performance.now();
  const sold = await indexer.sell(ids);
  const shown = async (): Promise<number> => {
    let count = 0;
    await askAll(target, planted, ({ items }, sentMs) => {
      count += shownTooLate(items.keys(), indexer.lastOf, sentMs, GRACE_MS).filter((id) => ids.has(id)).length;
    });
    return count;
  };
  await sleep(Math.max(0, FAULT_MS / 2 - (performance.now() - startedMs)));
  const shownMeanwhile = fault.answersMeanwhile ? await shown() : undefined;
  await sleep(Math.max(0, FAULT_MS - (performance.now() - startedMs)));
  await fault.end();
  await sleep(fault.graceMs ?? 0);
  target.excusedUntilMs = performance.now();
  return { name: fault.name, sold, shownAfter: await shown(), shownMeanwhile };
}

/** SIGKILL, and started again with an empty L1: its first pages are those of L2. */
export function killed(parts: FaultParts, at: number): Promise<FaultFigure> {
  return provoked(parts, {
    name: 'killed and started again',
    at,
    begin: () => process.kill(parts.fleet.replicas[at]?.pid ?? 0, 'SIGKILL'),
    end: () => parts.fleet.restart(at),
  });
}

/** Its connection to the feed is a black hole for ten seconds; it answers searches meanwhile. */
export function cutOff(parts: FaultParts, at: number): Promise<FaultFigure> {
  const proxy = parts.stack.proxies[at];
  return provoked(parts, {
    name: 'cut off from the feed for 10 s',
    at,
    begin: () => proxy?.pause(),
    end: async () => proxy?.resume(),
    answersMeanwhile: true,
    graceMs: GRACE_MS,
  });
}

/** Stopped for ten seconds, as by a paused virtual machine: it answers in the moment it goes on. */
export function stopped(parts: FaultParts, at: number): Promise<FaultFigure> {
  const pid = parts.fleet.replicas[at]?.pid ?? 0;
  return provoked(parts, {
    name: 'stopped for 10 s',
    at,
    begin: () => process.kill(pid, 'SIGSTOP'),
    end: async () => process.kill(pid, 'SIGCONT'),
  });
}

/** The replica is cut off, and what it has not read is trimmed from the stream, or the stream is deleted, before it reads again. */
export function feedCutShort(parts: FaultParts, at: number, how: 'trimmed' | 'deleted'): Promise<FaultFigure> {
  const { control, proxies, streamName } = parts.stack;
  return provoked(parts, {
    name: `cut off, and the stream ${how}`,
    at,
    begin: () => proxies[at]?.pause(),
    end: async () => {
      await (how === 'trimmed'
        ? control.command('XTRIM', streamName, 'MAXLEN', 1)
        : control.command('DEL', streamName));
      proxies[at]?.resume();
    },
    answersMeanwhile: true,
    graceMs: GRACE_MS,
  });
}
