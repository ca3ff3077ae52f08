import type { AuditEntry } from '../../audit/audit.ts';
import type { Clock } from '../../clock.ts';
import { createMissBudget } from '../miss-budget.ts';

/** The audit's lines of callers who brought no right token. */
export interface RefusalLines {
  /** Writes the line, or counts it. @param address of the caller, or its network. */
  readonly note: (address: string, entry: AuditEntry) => void;
  /** Writes down what was counted last. */
  readonly close: () => void;
}

/** Lines of one address: so many at once after a quiet time, and in the long run. */
const PER_ADDRESS = { burst: 5, perMinute: 6 };
/** And of all together, however many addresses they come from: some 17 MB a day at most. */
const OF_ALL = { burst: 20, perMinute: 60 };
/** Addresses remembered. Those that have been quiet longest are forgotten, and the bound of all holds without them. */
const MAX_ADDRESSES = 1000;
/** Counted lines wait for the next line of their address, and no longer than this. */
const SETTLE_MS = 10_000;

/**
 * Without a token anybody can have refused as much as he can send: a line for each would bury what operators did, and
 * turn over the audit's files. So there are few lines, and each says how many of its address were held back before it.
 * None goes uncounted.
 */
export function createRefusalLines(options: {
  readonly record: (entry: AuditEntry) => void;
  readonly clock: Clock;
}): RefusalLines {
  const { record, clock } = options;
  const ofAddress = createMissBudget({ ...PER_ADDRESS, maxClients: MAX_ADDRESSES, clock });
  const ofAll = createMissBudget({ ...OF_ALL, maxClients: 1, clock });
  const heldBack = new Map<string, number>();
  /** Of addresses beyond the bound. */
  let heldBackOfOthers = 0;
  let settling: NodeJS.Timeout | undefined;

  const settle = (): void => {
    settling = undefined;
    const total = [...heldBack.values()].reduce((sum, count) => sum + count, heldBackOfOthers);
    if (total === 0) return;
    const [only] = heldBack.keys();
    const isOne = heldBack.size === 1 && heldBackOfOthers === 0 && only !== undefined;
    const many = `${heldBackOfOthers > 0 ? 'more than ' : ''}${heldBack.size} addresses`;
    heldBack.clear();
    heldBackOfOthers = 0;
    record({ action: 'refusals', by: isOne ? only : many, result: 'held-back', heldBack: total });
  };

  const holdBack = (address: string): void => {
    const before = heldBack.get(address);
    if (before === undefined && heldBack.size >= MAX_ADDRESSES) heldBackOfOthers += 1;
    else heldBack.set(address, (before ?? 0) + 1);
    settling ??= setTimeout(settle, SETTLE_MS).unref();
  };

  return {
    note: (address, entry) => {
      if (!ofAddress.mayMiss(address) || !ofAll.mayMiss('')) {
        holdBack(address);
        return;
      }
      const before = heldBack.get(address);
      heldBack.delete(address);
      record(before === undefined ? entry : { ...entry, heldBack: before });
    },
    close: () => {
      clearTimeout(settling);
      settle();
    },
  };
}
