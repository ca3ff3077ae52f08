import { h } from '../../../page/assets/view/tree.mjs';
import { MEANINGS } from './drill-words.mjs';
import { bytes, counted, duration, number, percent, plannedPercent, rate, times } from './format.mjs';
import { facts, meant, table } from './parts.mjs';

/** @typedef {import('../data/shapes.mjs').FlushPreview} FlushPreview */

/**
 * What would be lost and where.
 * @param {FlushPreview} preview
 */
export function lossView({ nodes, memory, fraction }) {
  return [
    facts([
      ['share of the keys', plannedPercent(fraction)],
      ['in memory here', `${counted(memory.entries, 'page')}, ${bytes(memory.bytes)}`],
    ]),
    nodes.length === 0
      ? h('p', { class: 'soft' }, 'There is no store: only the memory of this process is touched.')
      : table(
          'What would be lost on each node',
          ['node', 'keys', 'size', 'counted'],
          nodes.map(({ node, keys, bytes: size, exact, detail }) => [
            node,
            number(keys),
            bytes(size),
            detail ?? (exact ? 'exactly' : 'from a sample'),
          ]),
        ),
  ];
}

/**
 * What the engine would get, and how much of it it can take.
 * @param {FlushPreview} preview
 */
export function survivalView({ engine, fraction }) {
  const { survivable } = engine;
  const isTooMuch = survivable !== undefined && fraction > survivable;
  return [
    facts([
      [
        'measured over',
        `${duration(engine.seconds * 1000)}, ${counted(engine.searches, 'search', 'searches')}, hit ratio ${percent(engine.hitRatio)}`,
      ],
      ['engine now', `${rate(engine.engineCallsPerSecond)} calls/s of ${duration(engine.engineCallMs)}`],
      [
        'extra, at most',
        engine.extraCallsPerSecond === undefined ? number(undefined) : `+${rate(engine.extraCallsPerSecond)} calls/s`,
      ],
      [meant('headroom H, at least', MEANINGS.headroom), times(engine.headroom)],
      [meant('amplification A, at most', MEANINGS.amplification), times(engine.amplification)],
      [
        meant('survivable f*, at least', MEANINGS.survivable),
        h('strong', { class: isTooMuch ? 'over' : '' }, percent(survivable)),
      ],
    ]),
    isTooMuch &&
      h(
        'p',
        { class: 'notice' },
        `${plannedPercent(fraction)} at once is more than the engine carries for sure: searches may be shed until the cache is refilled.`,
      ),
    survivable === undefined &&
      h('p', { class: 'notice' }, 'Whether the engine can carry it is not known: there was too little load to say.'),
  ];
}
