import { bytesText, countText, percentText, timesText } from '../../../report/format.mjs';
import type { Check, Observation, Window } from '../check.ts';
import { known } from '../facts.ts';
import { dataNodesOf, fine, reasonOf, skipped, stateAbove } from '../window.ts';
import { cli, NO_INFO, wrongIf } from './store-figures.ts';

/** Memory that a store node holds and no key uses. */

const FRAGMENTATION = { raises: 1.5, clears: 1.3, usedBytes: 100e6, lostBytes: 64 * 2 ** 20 };

function fragmentation(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, level } = view;
    const [ratio, used, lost] = [
      level('mem_fragmentation_ratio'),
      level('used_memory'),
      level('mem_fragmentation_bytes'),
    ];
    if (ratio === undefined || used === undefined) return skipped(subject, NO_INFO);
    const wasted = lost ?? (level('used_memory_rss') ?? used) - used;
    const state = stateAbove(ratio, FRAGMENTATION);
    if (state === 'fine' || used < FRAGMENTATION.usedBytes || wasted < FRAGMENTATION.lostBytes) return fine(subject);
    return {
      ...{ subject, state },
      evidence: `The process holds ${bytesText(used + wasted)} for ${bytesText(used)} in use (${timesText(ratio)}); ${bytesText(wasted)} are lost.`,
      figures: { ratio, usedBytes: used, lostBytes: wasted, allocatorRatio: level('allocator_frag_ratio') ?? 0 },
      advice: [cli(view, 'MEMORY PURGE'), cli(view, 'CONFIG SET activedefrag yes')],
    };
  });
}

const OVERHEAD = { raises: 0.5, clears: 0.45, datasetBytes: 50e6 };

function overhead(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, node } = view;
    const stats = known(node.memory);
    if (stats === undefined) return skipped(subject, reasonOf(node.memory));
    const [bytes, total, dataset] = [stats['overhead.total'], stats['total.allocated'], stats['dataset.bytes']];
    if (bytes === undefined || total === undefined || dataset === undefined) {
      return skipped(subject, 'MEMORY STATS does not tell it');
    }
    const state = stateAbove(bytes / Math.max(1, total), OVERHEAD);
    if (state === 'fine' || dataset < OVERHEAD.datasetBytes) return fine(subject);
    const keys = stats['keys.count'] ?? 0;
    return {
      ...{ subject, state },
      evidence: `${bytesText(bytes)} of ${bytesText(total)} are overhead (${percentText(bytes / total)}): tables of ${countText(keys)} keys, buffers and the backlog.`,
      figures: { overheadBytes: bytes, totalBytes: total, datasetBytes: dataset, keys },
      advice: [`Show its parts: ${cli(view, 'MEMORY STATS')}`],
    };
  });
}

const ADVICE = { usedBytes: 5e6 };

/** Names of the problems in MEMORY DOCTOR, whose text is a talk of several hundred words. */
function memoryAdvice(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, node, level } = view;
    const text = known(node.memoryAdvice);
    if (text === undefined) return skipped(subject, reasonOf(node.memoryAdvice));
    // A peak in the past is harmless, and is named until the server restarts.
    const problems = [...text.matchAll(/^\s*\* ([^:\n]{1,60}):/gm)]
      .map(([, name = '']) => name)
      .filter((name) => !/^peak memory/i.test(name));
    const used = level('used_memory') ?? 0;
    return wrongIf(problems.length > 0 && used >= ADVICE.usedBytes, subject, () => ({
      evidence: `MEMORY DOCTOR names: ${problems.join('; ').toLowerCase()}; ${bytesText(used)} are used.`,
      figures: { problems: problems.length, usedBytes: used },
      advice: [`Read it: ${cli(view, 'MEMORY DOCTOR')}`],
    }));
  });
}

function allocators(window: Window): readonly Observation[] {
  return dataNodesOf(window).map((view): Observation => {
    const { subject, text } = view;
    const allocator = text('mem_allocator');
    if (allocator === undefined) return skipped(subject, NO_INFO);
    return wrongIf(!allocator.startsWith('jemalloc'), subject, () => ({
      evidence: `The memory allocator is ${allocator}.`,
      figures: { allocator },
      advice: ['Use a build with jemalloc, the default on Linux: make MALLOC=jemalloc'],
    }));
  });
}

const SETTING = { minimum: 'none', clears: 'otherwise' };

export const WASTE_CHECKS: readonly Check[] = [
  {
    ...{ id: 'store-fragmentation', area: 'store', severity: 'warning', title: 'memory is lost to fragmentation' },
    needs: ['info'],
    minimum: `${bytesText(FRAGMENTATION.usedBytes)} used`,
    raises: `the process holds ≥ ${timesText(FRAGMENTATION.raises)} the used memory, and ≥ ${bytesText(FRAGMENTATION.lostBytes)} are lost`,
    clears: `below ${timesText(FRAGMENTATION.clears)}`,
    why: 'Pages of different sizes leave gaps that the allocator cannot return. maxmemory counts used bytes only, so the process grows beyond it.',
    source:
      'Redis documentation, “Memory optimization” and “INFO” (mem_fragmentation_ratio); MEMORY DOCTOR warns from 1.4',
    look: fragmentation,
  },
  {
    ...{ id: 'store-memory-overhead', area: 'store', severity: 'info', title: 'half of the memory is not data' },
    needs: ['memory'],
    minimum: `${bytesText(OVERHEAD.datasetBytes)} of data`,
    raises: `overhead ≥ ${percentText(OVERHEAD.raises)} of the allocated memory`,
    clears: `below ${percentText(OVERHEAD.clears)}`,
    why: 'Very small values cost more in tables than in bytes, and buffers of clients or replicas push keys out: they count against maxmemory.',
    source: 'Redis documentation, “MEMORY STATS” (overhead.total)',
    look: overhead,
  },
  {
    ...{ id: 'store-memory-advice', area: 'store', severity: 'info', title: 'MEMORY DOCTOR reports a problem' },
    needs: ['memory', 'info'],
    minimum: `${bytesText(ADVICE.usedBytes)} used`,
    raises: 'MEMORY DOCTOR names a problem other than a peak in the past',
    clears: SETTING.clears,
    why: 'The server knows more of its allocator than INFO tells.',
    source: 'Redis documentation, “MEMORY DOCTOR”; it judges nothing below 5 MB',
    look: memoryAdvice,
  },
  {
    ...{ id: 'store-allocator', area: 'store', severity: 'info', title: 'the memory allocator is not jemalloc' },
    needs: ['info'],
    ...SETTING,
    raises: 'mem_allocator is another than jemalloc',
    why: 'Redis is tuned for jemalloc, fragments less with it, and defragments in the background with it alone.',
    source: 'Redis README, “Allocator”; redis.conf, “ACTIVE DEFRAGMENTATION”',
    look: allocators,
  },
];
