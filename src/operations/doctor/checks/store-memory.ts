import { bytesText, countText, percentText, perSecondText, timesText } from '../../../report/format.ts';
import { MIB } from '../../../schema/units.ts';
import type { CheckRule, Window } from '../check.ts';
import { type KeyFacts, type KeysFacts, known } from '../facts.ts';
import {
  dataNodesOf,
  each,
  finding,
  hostPartOf,
  type Judgement,
  keepsControl,
  mastersOf,
  NO_PAIR,
  type NodeView,
  raiseOrHold,
  serversOf,
  skip,
  stateAbove,
  whyMissing,
} from '../window.ts';
import { callsGrown, cli, NO_INFO, policyFor, sizeText } from './store-figures.ts';

/** Keys and values of masters, by the sample that the collector has taken so far. */

const MAX_NAMES = 5;

/** `sc1:<domain>:{<22 characters>}`: a page. */
const ENTRY = /^sc\d+:[^:]+:\{[\w-]{22}\}$/;
const OURS = /^sc\d+:/;

/**
 * Counters, control documents and memberships of serpcache: collections that may be long, with bounds of their own. Some of
 * them have no expiry.
 */
const isBookkeeping = ({ name }: KeyFacts): boolean => OURS.test(name) && !ENTRY.test(name);

/** A look at each sample; skipped without one. */
const eachSample = (judge: (keys: KeysFacts, view: NodeView) => Judgement) =>
  each(mastersOf, (view) => {
    const keys = known(view.node.keys);
    return keys === undefined ? skip(whyMissing(view.node.keys)) : judge(keys, view);
  });

/** `fine` needs a pass over all keys. A smaller sample gives `skipped`. */
function noneSoFar({ seen, total }: KeysFacts): Judgement {
  if (seen >= total) return 'fine';
  return skip(`none was found in a sample; ${countText(seen)} of ${countText(total)} keys were seen so far`);
}

const keyText = ({ name, type, bytes }: KeyFacts): string => `${name} (${type}, ${bytesText(bytes)})`;

/** The figures are of this many keys alone. Keys expire while they are sampled, so the sample may exceed the rest. */
const sampleText = ({ sampled, total }: KeysFacts): string =>
  `${countText(sampled)} of ${countText(Math.max(sampled, total))} keys were sampled`;

/** `900 ≤ 10 KiB, 80 ≤ 100 KiB, 20 larger`; empty buckets are left out. */
function histogramText({ sizes, sampled }: KeysFacts): string {
  const counted = sizes.reduce((sum, { count }) => sum + count, 0);
  const larger = Math.max(0, sampled - counted);
  return [
    ...sizes.flatMap(({ maxBytes, count }) => (count > 0 ? [`${countText(count)} ≤ ${bytesText(maxBytes)}`] : [])),
    ...(larger > 0 ? [`${countText(larger)} larger`] : []),
  ].join(', ');
}

const BIG = { raises: MIB, clears: MIB / 2 };
const LONG = { raises: 10_000, clears: 5000 };
const LASTING = { raises: 3, clears: 1 };
const FOREIGN = { raises: 0.1, clears: 0.05, sampled: 100 };

export const KEY_CHECKS: readonly CheckRule[] = [
  {
    id: 'store-big-keys',
    severity: 'warning',
    title: 'very large values',
    needs: ['info', 'keys'],
    raises: `a value of ≥ ${bytesText(BIG.raises)}; bookkeeping of serpcache is left out`,
    clears: `none of ≥ ${bytesText(BIG.clears)}`,
    why: 'To read, copy or free it takes the main thread milliseconds, and its reply holds up the others on the network.',
    source: 'Redis documentation, “redis-cli”: scanning for big keys; twice the default of maxEntryBytes',
    look: eachSample((keys, view) => {
      const others = keys.biggest.filter((key) => !isBookkeeping(key)).toSorted((a, b) => b.bytes - a.bytes);
      const [largest] = others;
      const state = stateAbove(largest?.bytes ?? 0, BIG);
      if (largest === undefined || state === 'fine') return noneSoFar(keys);
      const big = others.filter(({ bytes }) => bytes >= BIG.clears).slice(0, MAX_NAMES);
      const histogram = histogramText(keys);
      return finding(state, () => ({
        evidence: `The largest values found: ${big.map(keyText).join(', ')}. ${sampleText(keys)}${histogram === '' ? '' : `: ${histogram}`}.`,
        figures: { largestBytes: largest.bytes, largest: largest.name, big: big.length, sampled: keys.sampled },
        advice: [
          `Find all: ${cli(view, '--bigkeys')}`,
          'Split the value, or compress it; remove it by UNLINK, which frees it outside the main thread.',
          ...(big.some(({ name }) => OURS.test(name))
            ? ['A limit for pages: maxEntryBytes in the configuration.']
            : []),
        ],
      }));
    }),
  },
  {
    id: 'store-big-collections',
    severity: 'warning',
    title: 'very long hashes, lists or sets',
    needs: ['info', 'keys'],
    raises: `a collection of ≥ ${countText(LONG.raises)} members; bookkeeping of serpcache is left out`,
    clears: `none of ≥ ${countText(LONG.clears)} members`,
    why: 'HGETALL, SMEMBERS, DEL and expiry take time for each member, and every other command waits.',
    source: 'Redis documentation: complexity O(n) of these commands, about a millisecond for 10,000 members',
    look: eachSample((keys) => {
      const others = keys.longest.filter((key) => !isBookkeeping(key)).toSorted((a, b) => b.members - a.members);
      const [longest] = others;
      const state = stateAbove(longest?.members ?? 0, LONG);
      if (longest === undefined || state === 'fine') return noneSoFar(keys);
      const long = others.filter(({ members }) => members >= LONG.clears).slice(0, MAX_NAMES);
      const names = long.map(
        ({ name, type, members, bytes }) => `${name} (${type} of ${countText(members)} members, ${bytesText(bytes)})`,
      );
      return finding(state, () => ({
        evidence: `The longest collections found: ${names.join(', ')}; ${sampleText(keys)}.`,
        figures: { members: longest.members, longest: longest.name, long: long.length, sampled: keys.sampled },
        advice: [
          'Split it by a hash of the member into keys of at most some thousand members.',
          'Read it by HSCAN, SSCAN or ZRANGE in steps, never as a whole; remove it by UNLINK.',
        ],
      }));
    }),
  },
  {
    id: 'store-no-expiry',
    severity: 'warning',
    title: 'entries without an expiry',
    needs: ['info', 'keys'],
    minimum: `${LASTING.raises} such entries in the sample`,
    raises: `≥ ${LASTING.raises} sampled entries of serpcache without an expiry`,
    clears: 'none in the sample',
    why: 'They stay for ever, take memory from pages that are asked for, and volatile-* policies cannot evict them.',
    source: 'serpcache writes every entry with PX (src/stores/redis/store.ts)',
    // Control documents and epochs have no expiry, and need none: the collector counts entries alone.
    look: eachSample((keys, view) => {
      if (!view.store.isCache) return undefined;
      const [domain = 'DOMAIN'] = view.store.domains;
      return finding(stateAbove(keys.oursWithoutExpiry, LASTING), () => ({
        evidence: `${countText(keys.oursWithoutExpiry)} of ${countText(keys.ours)} sampled keys of serpcache are entries without an expiry; ${sampleText(keys)}.`,
        figures: { withoutExpiry: keys.oursWithoutExpiry, ours: keys.ours, sampled: keys.sampled },
        advice: [
          'serpcache writes every entry with an expiry: find what copies, restores or PERSISTs these keys.',
          `Names: ${cli(view, `--scan --pattern 'sc1:${domain}:{*'`)}, and PTTL of each: −1 is without an expiry. Then EXPIRE NAME 3600.`,
        ],
      }));
    }),
  },
  {
    id: 'store-foreign-keys',
    severity: 'info',
    title: 'the store is shared with other applications',
    needs: ['info', 'keys'],
    minimum: `${FOREIGN.sampled} sampled keys`,
    raises: `≥ ${percentText(FOREIGN.raises)} of the sampled keys are not of serpcache`,
    clears: `< ${percentText(FOREIGN.clears)}`,
    why: 'They share memory, policy and the main thread: one evicts the other, and FLUSHDB empties both.',
    source: 'Redis documentation, “Key eviction”: two instances rather than one for two uses',
    look: eachSample(({ sampled, foreign }, view) => {
      if (!view.store.isCache) return undefined;
      if (sampled < FOREIGN.sampled) return skip(`fewer than ${FOREIGN.sampled} sampled keys`);
      const share = foreign / sampled;
      return finding(stateAbove(share, FOREIGN), () => ({
        evidence: `${countText(foreign)} of ${countText(sampled)} sampled keys belong to other applications (${percentText(share)}).`,
        figures: { foreign, sampled, share },
        advice: [
          'Give serpcache a server of its own: then a flush of the node, its memory and its policy concern it alone.',
          `Names: ${cli(view, "--scan | grep -v '^sc[0-9]*:' | head")}`,
        ],
      }));
    }),
  },
];

/** Memory of store nodes: limits and policies, evictions, and memory that no key uses. */

/**
 * A limit that leaves room for client buffers, fragmentation and copies, in whole MiB: an equal share for each store server
 * at the address. It is never below the memory in use, since a lower one would evict at once.
 */
function suggestedLimit(window: Window, { level, node }: NodeView): string {
  const [total, used] = [level('total_system_memory'), level('used_memory') ?? 0];
  const host = hostPartOf(node.address);
  const servers = serversOf(window).filter((one) => hostPartOf(one.node.address) === host);
  const share = total === undefined ? 1024 * MIB : (LIMIT_SHARE * total) / Math.max(1, servers.length);
  return sizeText(Math.max(64 * MIB, Math.floor(share / MIB) * MIB, used));
}

/** The share of the machine that deploy/redis gives to its node. */
const LIMIT_SHARE = 0.7;

/** Keys of all databases, and those of them with an expiry. */
function keyspaceOf({ node }: NodeView): { readonly keys: number; readonly expires: number } {
  const lines = Object.entries(known(node.info) ?? {}).filter(([field]) => /^db\d+$/.test(field));
  const total = (member: RegExp): number =>
    lines.reduce((sum, [, line]) => sum + Number(member.exec(line)?.[1] ?? 0), 0);
  return { keys: total(/\bkeys=(\d+)/), expires: total(/\bexpires=(\d+)/) };
}

const evicts = (policy: string | undefined): boolean => policy?.startsWith('allkeys-') ?? false;

/** Keys without an expiry that a policy `volatile-*` can never evict. */
const NEVER_EXPIRING = { share: 0.5, keys: 1000 };
const EVICTIONS = { count: 10, perSecond: 1, writeShare: 0.01, clearPerSecond: 0.5 };
const WRITES: ReadonlySet<string> = new Set(
  [
    'set setex psetex setnx getset mset append setrange incr incrby restore',
    'hset hmset hsetnx hincrby lpush rpush sadd zadd zincrby xadd',
  ].flatMap((names) => names.split(' ')),
);
const FRAGMENTATION = { raises: 1.5, clears: 1.3, usedBytes: 100e6, lostBytes: 64 * MIB };
const ADVICE = { usedBytes: 5e6 };

export const MEMORY_CHECKS: readonly CheckRule[] = [
  {
    id: 'store-no-maxmemory',
    severity: 'warning',
    title: 'a cache has no memory limit',
    needs: ['info'],
    raises: 'maxmemory is 0 on a store of a domain',
    why: 'A cache grows with every new query. Without a limit the kernel ends the server, or the machine swaps.',
    source: 'Redis documentation, “Key eviction” and “Redis administration”; deploy/redis',
    look: each(dataNodesOf, (view, window) => {
      const { store, level, text } = view;
      if (!store.isCache) return undefined;
      const limit = level('maxmemory');
      if (limit === undefined) return skip(NO_INFO);
      const used = level('used_memory') ?? 0;
      const [use, policy] = [view.use(), text('maxmemory_policy')];
      // A limit puts the policy in force at once, so a wrong one goes first.
      const isWrong = policy === 'noeviction' || (use === 'mixed' && evicts(policy));
      return finding(limit === 0, () => ({
        evidence: `maxmemory is 0, and ${bytesText(used)} are used of the machine’s ${bytesText(level('total_system_memory'))}.`,
        figures: { maxmemory: 0, usedBytes: used },
        advice: [
          ...(isWrong ? [cli(view, `CONFIG SET maxmemory-policy ${policyFor(use)}`)] : []),
          cli(view, `CONFIG SET maxmemory ${suggestedLimit(window, view)}`),
          `The same in its configuration file; about ${percentText(LIMIT_SHARE)} of the machine for all its stores, less where it runs other servers.`,
        ],
      }));
    }),
  },
  {
    id: 'store-policy',
    severity: 'warning',
    title: 'the eviction policy does not fit the store',
    needs: ['info'],
    minimum: `a limit; for volatile-*, ${countText(NEVER_EXPIRING.keys)} keys`,
    raises: `noeviction on a store of a domain, or volatile-* there while ≥ ${percentText(NEVER_EXPIRING.share)} of the keys have no expiry; allkeys-* on the control store`,
    why: 'A full cache that may evict nothing refuses new pages, and a control store that evicts forgets flushes and suppressions.',
    source: 'Redis documentation, “Key eviction”; deploy/redis, deploy/production.example.yaml',
    // `volatile-*` is right for serpcache's own names: every entry has an expiry, and a control document, which has none,
    // must stay. It is wrong where most keys are of others and have none.
    look: each(dataNodesOf, (view) => {
      const { store, level, text } = view;
      const [policy, limit] = [text('maxmemory_policy'), level('maxmemory')];
      if (policy === undefined || limit === undefined) return skip(NO_INFO);
      // Without a limit the policy is not in force: `store-no-maxmemory`.
      if (limit === 0) return 'fine';
      const figures = { policy, maxmemory: limit, usedBytes: level('used_memory') ?? 0 };
      const use = view.use();
      if (!store.isCache) {
        // On a server of a cache it is a finding of `store-shared-server`.
        return finding(keepsControl(store) && evicts(policy) && use === 'lasting', () => ({
          evidence: `maxmemory-policy is ${policy} with a limit of ${bytesText(limit)}: a control document may be evicted.`,
          figures,
          advice: [cli(view, 'CONFIG SET maxmemory-policy noeviction')],
        }));
      }
      const { keys, expires } = keyspaceOf(view);
      const lasting = keys - expires;
      const isStuck =
        policy.startsWith('volatile-') &&
        keys >= NEVER_EXPIRING.keys &&
        lasting >= NEVER_EXPIRING.share * keys &&
        use === 'cache';
      return finding(policy === 'noeviction' || isStuck, () => ({
        evidence: isStuck
          ? `maxmemory-policy is ${policy}, and ${countText(lasting)} of ${countText(keys)} keys have no expiry: none of them can be evicted.`
          : `maxmemory-policy is noeviction with a limit of ${bytesText(limit)}, ${bytesText(figures.usedBytes)} of it used: a full node refuses writes (OOM).`,
        figures: { ...figures, keys, lastingKeys: lasting },
        advice: [cli(view, `CONFIG SET maxmemory-policy ${policyFor(use)}`), 'The same in its configuration file.'],
      }));
    }),
  },
  {
    id: 'store-evictions',
    severity: 'warning',
    title: 'keys are evicted',
    needs: ['info'],
    minimum: `${EVICTIONS.count} evictions in the window`,
    raises: `≥ ${perSecondText(EVICTIONS.perSecond)} and ≥ ${percentText(EVICTIONS.writeShare)} of the writes`,
    clears: `below ${perSecondText(EVICTIONS.clearPerSecond)}, or below ${percentText(EVICTIONS.writeShare)} of the writes`,
    why: 'Pages go before they expire and are computed again; each eviction is time of the main thread, and a DEL for every replica.',
    source: 'Redis documentation, “Key eviction”; field report: evictions led to replica lag and full resyncs',
    look: each(mastersOf, (view) => {
      const { level, grown, rate } = view;
      const [count, perSecond] = [grown('evicted_keys'), rate('evicted_keys')];
      if (count === undefined || perSecond === undefined) return skip(NO_PAIR);
      const writes = callsGrown(view, (command) => WRITES.has(command));
      // Without commandstats every eviction counts.
      const share = writes === undefined ? 1 : count / Math.max(1, writes);
      if (perSecond < EVICTIONS.clearPerSecond || share < EVICTIONS.writeShare) return 'fine';
      const [used, limit] = [level('used_memory') ?? 0, level('maxmemory') ?? 0];
      return finding(raiseOrHold(count >= EVICTIONS.count && perSecond >= EVICTIONS.perSecond), () => ({
        evidence: `${perSecondText(perSecond)} keys are evicted${writes === undefined ? '' : ` beside ${perSecondText(writes / view.seconds)} writes`}; ${bytesText(used)} of ${bytesText(limit)} are used.`,
        figures: { evictedPerSecond: perSecond, writeShare: share, usedBytes: used, maxmemory: limit },
        advice: [
          `More memory, if the machine has it: ${cli(view, `CONFIG SET maxmemory ${sizeText(1.5 * limit)}`)}`,
          'Or more shards, or a shorter freshness.ttl, so that pages expire before they are evicted.',
          `Find large keys: ${cli(view, '--bigkeys')}`,
        ],
      }));
    }),
  },
  {
    id: 'store-fragmentation',
    severity: 'warning',
    title: 'memory is lost to fragmentation',
    needs: ['info'],
    minimum: `${bytesText(FRAGMENTATION.usedBytes)} used`,
    raises: `the process holds ≥ ${timesText(FRAGMENTATION.raises)} the used memory, and ≥ ${bytesText(FRAGMENTATION.lostBytes)} are lost`,
    clears: `below ${timesText(FRAGMENTATION.clears)}`,
    why: 'Pages of different sizes leave gaps that the allocator cannot return. maxmemory counts used bytes only, so the process grows beyond it.',
    source:
      'Redis documentation, “Memory optimization” and “INFO” (mem_fragmentation_ratio); MEMORY DOCTOR warns from 1.4',
    look: each(dataNodesOf, (view) => {
      const { level } = view;
      const [ratio, used] = [level('mem_fragmentation_ratio'), level('used_memory')];
      if (ratio === undefined || used === undefined) return skip(NO_INFO);
      const lost = level('mem_fragmentation_bytes') ?? (level('used_memory_rss') ?? used) - used;
      if (used < FRAGMENTATION.usedBytes || lost < FRAGMENTATION.lostBytes) return 'fine';
      return finding(stateAbove(ratio, FRAGMENTATION), () => ({
        evidence: `The process holds ${bytesText(used + lost)} for ${bytesText(used)} in use (${timesText(ratio)}); ${bytesText(lost)} are lost.`,
        figures: { ratio, usedBytes: used, lostBytes: lost, allocatorRatio: level('allocator_frag_ratio') ?? 0 },
        advice: [cli(view, 'MEMORY PURGE'), cli(view, 'CONFIG SET activedefrag yes')],
      }));
    }),
  },
  {
    id: 'store-memory-advice',
    severity: 'info',
    title: 'MEMORY DOCTOR reports a problem',
    needs: ['memory', 'info'],
    minimum: `${bytesText(ADVICE.usedBytes)} used`,
    raises: 'MEMORY DOCTOR names a problem other than a peak in the past',
    why: 'The server knows more of its allocator than INFO tells.',
    source: 'Redis documentation, “MEMORY DOCTOR”; it judges nothing below 5 MB',
    look: each(dataNodesOf, (view) => {
      const text = known(view.node.memoryAdvice);
      if (text === undefined) return skip(whyMissing(view.node.memoryAdvice));
      // Its text is a talk of several hundred words. A peak in the past is harmless, and is named until the server restarts.
      const problems = [...text.matchAll(/^\s*\* ([^:\n]{1,60}):/gm)]
        .map(([, name = '']) => name)
        .filter((name) => !/^peak memory/i.test(name));
      const used = view.level('used_memory') ?? 0;
      return finding(problems.length > 0 && used >= ADVICE.usedBytes, () => ({
        evidence: `MEMORY DOCTOR names: ${problems.join('; ').toLowerCase()}; ${bytesText(used)} are used.`,
        figures: { problems: problems.length, usedBytes: used },
        advice: [`Read it: ${cli(view, 'MEMORY DOCTOR')}`],
      }));
    }),
  },
];
