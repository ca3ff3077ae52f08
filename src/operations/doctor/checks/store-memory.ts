import { bytesText, countText, percentText, perSecondText } from '../../../report/format.mjs';
import type { Check, Observation, Window } from '../check.ts';
import { dataNodesOf, fine, hostPartOf, mastersOf, type NodeView, skipped, stateAbove } from '../window.ts';
import {
  callsGrown,
  cli,
  keyspaceOf,
  MIB,
  NO_INFO,
  NO_PAIR,
  serversAmong,
  sizeText,
  wrongIf,
} from './store-figures.ts';
import { WASTE_CHECKS } from './store-memory-waste.ts';
import { keepsControl, policyFor, usesOf } from './store-uses.ts';

/** Memory of store nodes: limits and policies, evictions and expirations, fragmentation and overhead. */

/**
 * A limit that leaves room for client buffers, fragmentation and copies, in whole MiB: an equal share for each store server
 * at the address. It is never below the memory in use, since a lower one would evict at once.
 */
function suggestedLimit(window: Window, { level, node }: NodeView): string {
  const [total, used] = [level('total_system_memory'), level('used_memory') ?? 0];
  const host = hostPartOf(node.address);
  const servers = serversAmong(dataNodesOf(window)).filter((one) => hostPartOf(one.node.address) === host);
  const share = total === undefined ? 1024 * MIB : (LIMIT_SHARE * total) / Math.max(1, servers.length);
  return sizeText(Math.max(64 * MIB, Math.floor(share / MIB) * MIB, used));
}

/** The share of the machine that deploy/redis gives to its node. */
const LIMIT_SHARE = 0.7;

const evicts = (policy: string | undefined): boolean => policy?.startsWith('allkeys-') ?? false;

// --- limits and policies ----------------------------------------------------------------------------------------------

function unlimited(window: Window): readonly Observation[] {
  const useOf = usesOf(window);
  return dataNodesOf(window).flatMap((view): Observation[] => {
    const { store, subject, level, text } = view;
    if (!store.isCache) return [];
    const limit = level('maxmemory');
    if (limit === undefined) return [skipped(subject, NO_INFO)];
    const used = level('used_memory') ?? 0;
    const [use, policy] = [useOf(view), text('maxmemory_policy')];
    // A limit puts the policy in force at once, so a wrong one goes first.
    const isWrong = policy === 'noeviction' || (use === 'mixed' && evicts(policy));
    return [
      wrongIf(limit === 0, subject, () => ({
        evidence: `maxmemory is 0, and ${bytesText(used)} are used of the machine’s ${bytesText(level('total_system_memory'))}.`,
        figures: { maxmemory: 0, usedBytes: used },
        advice: [
          ...(isWrong ? [cli(view, `CONFIG SET maxmemory-policy ${policyFor(use)}`)] : []),
          cli(view, `CONFIG SET maxmemory ${suggestedLimit(window, view)}`),
          `The same in its configuration file; about ${percentText(LIMIT_SHARE)} of the machine for all its stores, less where it runs other servers.`,
        ],
      })),
    ];
  });
}

/** Keys without an expiry that a policy `volatile-*` can never evict. */
const LASTING = { share: 0.5, keys: 1000 };

/**
 * `volatile-*` is right for serpcache's own names: every entry has an expiry, and a control document, which has none, must
 * stay. It is wrong where most keys are of others and have none.
 */
function policies(window: Window): readonly Observation[] {
  const useOf = usesOf(window);
  return dataNodesOf(window).flatMap((view): Observation[] => {
    const { store, subject, level, text } = view;
    const [policy, limit] = [text('maxmemory_policy'), level('maxmemory')];
    if (policy === undefined || limit === undefined) return [skipped(subject, NO_INFO)];
    // Without a limit the policy is not in force: `store-no-maxmemory`.
    if (limit === 0) return [fine(subject)];
    const figures = { policy, maxmemory: limit, usedBytes: level('used_memory') ?? 0 };
    if (!store.isCache) {
      // On a server of a cache it is a finding of `store-shared-server`.
      const isWrong = keepsControl(store) && evicts(policy) && useOf(view) === 'lasting';
      return [
        wrongIf(isWrong, subject, () => ({
          evidence: `maxmemory-policy is ${policy} with a limit of ${bytesText(limit)}: a control document may be evicted.`,
          figures,
          advice: [cli(view, 'CONFIG SET maxmemory-policy noeviction')],
        })),
      ];
    }
    const use = useOf(view);
    const { keys, expires } = keyspaceOf(view);
    const lasting = keys - expires;
    const isStuck =
      policy.startsWith('volatile-') && keys >= LASTING.keys && lasting >= LASTING.share * keys && use === 'cache';
    return [
      wrongIf(policy === 'noeviction' || isStuck, subject, () => ({
        evidence: isStuck
          ? `maxmemory-policy is ${policy}, and ${countText(lasting)} of ${countText(keys)} keys have no expiry: none of them can be evicted.`
          : `maxmemory-policy is noeviction with a limit of ${bytesText(limit)}, ${bytesText(figures.usedBytes)} of it used: a full node refuses writes (OOM).`,
        figures: { ...figures, keys, lastingKeys: lasting },
        advice: [cli(view, `CONFIG SET maxmemory-policy ${policyFor(use)}`), 'The same in its configuration file.'],
      })),
    ];
  });
}

// --- evictions and expirations ----------------------------------------------------------------------------------------

const EVICTIONS = { count: 10, perSecond: 1, writeShare: 0.01, clearPerSecond: 0.5 };
const WRITES: ReadonlySet<string> = new Set([
  ...['set', 'setex', 'psetex', 'setnx', 'getset', 'mset', 'append', 'setrange', 'incr', 'incrby', 'restore'],
  ...['hset', 'hmset', 'hsetnx', 'hincrby', 'lpush', 'rpush', 'sadd', 'zadd', 'zincrby', 'xadd'],
]);

function evictions(window: Window): readonly Observation[] {
  return mastersOf(window).map((view): Observation => {
    const { subject, level, grown, rate } = view;
    const [count, perSecond] = [grown('evicted_keys'), rate('evicted_keys')];
    if (count === undefined || perSecond === undefined) return skipped(subject, NO_PAIR);
    const writes = callsGrown(view, (command) => WRITES.has(command));
    // Without commandstats every eviction counts.
    const share = writes === undefined ? 1 : count / Math.max(1, writes);
    if (perSecond < EVICTIONS.clearPerSecond || share < EVICTIONS.writeShare) return fine(subject);
    const used = level('used_memory') ?? 0;
    const limit = level('maxmemory') ?? 0;
    return {
      subject,
      state: count >= EVICTIONS.count && perSecond >= EVICTIONS.perSecond ? 'raise' : 'hold',
      evidence: `${perSecondText(perSecond)} keys are evicted${writes === undefined ? '' : ` beside ${perSecondText(writes / view.seconds)} writes`}; ${bytesText(used)} of ${bytesText(limit)} are used.`,
      figures: { evictedPerSecond: perSecond, writeShare: share, usedBytes: used, maxmemory: limit },
      advice: [
        `More memory, if the machine has it: ${cli(view, `CONFIG SET maxmemory ${sizeText(1.5 * limit)}`)}`,
        'Or more shards, or a shorter freshness.ttl, so that pages lapse before they are evicted.',
        `Find large keys: ${cli(view, '--bigkeys')}`,
      ],
    };
  });
}

const EXPIRATIONS = { perSecond: 1000, clearPerSecond: 500, keyShare: 0.1 };

function expirations(window: Window): readonly Observation[] {
  return mastersOf(window).map((view): Observation => {
    const { subject, grown, rate } = view;
    const [count, perSecond] = [grown('expired_keys'), rate('expired_keys')];
    if (count === undefined || perSecond === undefined) return skipped(subject, NO_PAIR);
    const keys = keyspaceOf(view).keys + count;
    if (perSecond < EXPIRATIONS.clearPerSecond || perSecond < EXPIRATIONS.keyShare * keys) return fine(subject);
    return {
      subject,
      state: perSecond >= EXPIRATIONS.perSecond ? 'raise' : 'hold',
      evidence: `${perSecondText(perSecond)} keys lapse, of ${countText(keys)} in all: most pages end at the same time.`,
      figures: { expiredPerSecond: perSecond, keys },
      advice: [
        'Spread the lifetimes: raise freshness.jitter of the domain.',
        cli(view, 'CONFIG SET lazyfree-lazy-expire yes'),
      ],
    };
  });
}

// --- a full node ------------------------------------------------------------------------------------------------------

const FULL = { raises: 0.95, clears: 0.9 };

/** An evicting server stays below its limit but for a moment. */
const OVER = 1.1;

function full(window: Window): readonly Observation[] {
  const useOf = usesOf(window);
  return serversAmong(dataNodesOf(window)).map((view): Observation => {
    const { subject, level, text } = view;
    const [limit, used, total] = [level('maxmemory'), level('used_memory'), level('total_system_memory')];
    if (limit === undefined || used === undefined) return skipped(subject, NO_INFO);
    if (total !== undefined && limit > total) {
      return {
        subject,
        state: 'raise',
        evidence: `maxmemory is ${bytesText(limit)}, the machine has ${bytesText(total)}, and ${bytesText(used)} are used: the kernel ends the server before it evicts.`,
        figures: { maxmemory: limit, usedBytes: used, totalBytes: total },
        advice: [cli(view, `CONFIG SET maxmemory ${suggestedLimit(window, view)}`)],
      };
    }
    // Only a master refuses writes; its replica is as full as it is.
    if (limit === 0 || text('role') === 'slave') return fine(subject);
    const counted = used - (level('mem_not_counted_for_evict') ?? 0);
    if (text('maxmemory_policy') !== 'noeviction') {
      if (counted < OVER * limit) return fine(subject);
      return {
        ...{ subject, state: 'raise' },
        evidence: `${bytesText(counted)} are used with a limit of ${bytesText(limit)}, although ${text('maxmemory_policy')} evicts: buffers, the backlog and the server itself need more than the limit, and writes are refused.`,
        figures: { usedBytes: counted, maxmemory: limit },
        advice: [
          `What uses it: ${cli(view, 'MEMORY STATS')}`,
          cli(view, `CONFIG SET maxmemory ${suggestedLimit(window, view)}`),
        ],
      };
    }
    const state = stateAbove(counted / limit, FULL);
    if (state === 'fine') return fine(subject);
    const use = useOf(view);
    return {
      ...{ subject, state },
      evidence: `${bytesText(counted)} of ${bytesText(limit)} are used (${percentText(counted / limit)}), and noeviction refuses every write beyond.`,
      figures: { usedBytes: counted, maxmemory: limit },
      advice:
        use === 'lasting'
          ? [cli(view, `CONFIG SET maxmemory ${sizeText(2 * limit)}`), `Find large keys: ${cli(view, '--bigkeys')}`]
          : [cli(view, `CONFIG SET maxmemory-policy ${policyFor(use)}`)],
    };
  });
}

const MACHINE = { share: 0.85 };

/** Servers at the same address with the same memory are on one machine, and their limits add up. */
function aboveHost(window: Window): readonly Observation[] {
  const servers = serversAmong(dataNodesOf(window)).filter(({ level }) => level('total_system_memory') !== undefined);
  const machines = Map.groupBy(
    servers,
    ({ node, level }) => `${hostPartOf(node.address)}\n${level('total_system_memory')}`,
  );
  return [...machines.values()].flatMap((views): Observation[] => {
    const [first] = views;
    const total = first?.level('total_system_memory');
    if (first === undefined || total === undefined) return [];
    const limits = views.map(({ level }) => level('maxmemory') ?? 0);
    const sum = limits.reduce((all, limit) => all + limit, 0);
    const subject = `stores at ${hostPartOf(first.node.address)}`;
    // One limit above the machine's memory is a finding of `store-memory-full`.
    const isWrong = sum > MACHINE.share * total && limits.every((limit) => limit <= total);
    return [
      wrongIf(isWrong, subject, () => ({
        evidence: `${views.length === 1 ? 'One server' : `${views.length} servers`} at this address may use ${bytesText(sum)} together, and the machine has ${bytesText(total)}.`,
        figures: { servers: views.length, maxmemory: sum, totalBytes: total },
        advice: [
          cli(first, `CONFIG SET maxmemory ${suggestedLimit(window, first)}`),
          ...(views.length === 1 ? [] : ['The same on the other servers there, or move some of them.']),
        ],
      })),
    ];
  });
}

const SETTING = { minimum: 'none', clears: 'otherwise' };
const RATE = 'two readings of one run of the server';

export const MEMORY_CHECKS: readonly Check[] = [
  {
    ...{ id: 'store-no-maxmemory', area: 'store', severity: 'warning', title: 'a cache has no memory limit' },
    needs: ['info'],
    ...SETTING,
    raises: 'maxmemory is 0 on a store of a domain',
    why: 'A cache grows with every new query. Without a limit the kernel ends the server, or the machine swaps.',
    source: 'Redis documentation, “Key eviction” and “Redis administration”; deploy/redis',
    look: unlimited,
  },
  {
    ...{ id: 'store-policy', area: 'store', severity: 'warning', title: 'the eviction policy does not fit the store' },
    needs: ['info'],
    minimum: `a limit; for volatile-*, ${countText(LASTING.keys)} keys`,
    raises: `noeviction on a store of a domain, or volatile-* there while ≥ ${percentText(LASTING.share)} of the keys have no expiry; allkeys-* on the control store`,
    clears: SETTING.clears,
    why: 'A full cache that may evict nothing refuses new pages, and a control store that evicts forgets flushes and suppressions.',
    source: 'Redis documentation, “Key eviction”; deploy/redis, deploy/production.example.yaml',
    look: policies,
  },
  {
    ...{ id: 'store-evictions', area: 'store', severity: 'warning', title: 'keys are evicted' },
    needs: ['info'],
    minimum: `${EVICTIONS.count} evictions in the window`,
    raises: `≥ ${perSecondText(EVICTIONS.perSecond)} and ≥ ${percentText(EVICTIONS.writeShare)} of the writes`,
    clears: `below ${perSecondText(EVICTIONS.clearPerSecond)}, or below ${percentText(EVICTIONS.writeShare)} of the writes`,
    why: 'Pages go before they lapse and are computed again; each eviction is time of the main thread, and a DEL for every replica.',
    source: 'Redis documentation, “Key eviction”; field report: evictions led to replica lag and full resyncs',
    look: evictions,
  },
  {
    ...{ id: 'store-expirations', area: 'store', severity: 'info', title: 'many keys expire at once' },
    needs: ['info'],
    minimum: RATE,
    raises: `≥ ${perSecondText(EXPIRATIONS.perSecond)} and ≥ ${percentText(EXPIRATIONS.keyShare)} of the keys per second`,
    clears: `below ${perSecondText(EXPIRATIONS.clearPerSecond)}`,
    why: 'While more than 10 % of the keys that have an expiry are past it, the server keeps deleting instead of answering, and the misses come together.',
    source: 'Redis documentation, “Diagnosing latency issues” (latency generated by expires)',
    look: expirations,
  },
  {
    ...{ id: 'store-memory-full', area: 'store', severity: 'critical' },
    title: 'memory runs out before anything is evicted',
    needs: ['info'],
    minimum: 'none',
    raises: `noeviction with ≥ ${percentText(FULL.raises)} of maxmemory used, or maxmemory above the machine’s memory`,
    clears: `below ${percentText(FULL.clears)}, and maxmemory within the machine’s memory`,
    why: 'Writes fail with OOM, or the kernel ends the server and every key with it.',
    source: 'Redis documentation, “Key eviction” and “INFO” (total_system_memory)',
    look: full,
  },
  {
    ...{ id: 'store-memory-above-host', area: 'store', severity: 'warning' },
    title: 'the limits of a machine’s stores leave it no room',
    needs: ['info'],
    ...SETTING,
    raises: `maxmemory of all nodes at one address > ${percentText(MACHINE.share)} of the machine’s memory`,
    why: 'Client buffers, fragmentation and the copy for a replica are outside maxmemory. When all nodes are full, the machine swaps.',
    source: 'deploy/redis: about 70 % for a node; Redis documentation, “Redis administration”',
    look: aboveHost,
  },
  ...WASTE_CHECKS,
];
