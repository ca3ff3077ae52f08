import type { FlushPreview, SurvivalEstimate } from '../../flush/flush.ts';
import { columns, indented } from './columns.ts';
import { bytes, duration, figure, grouped, percent, plural } from './format.ts';

/** What a flush would cost, for a person who has to decide. */
export function previewText(domain: string, preview: FlushPreview): string {
  const { mode, fraction, nodes, memory, engine } = preview;
  const rows = nodes.map(({ node, keys, bytes: size, exact, detail }) => [
    node,
    `${grouped(keys)} keys`,
    bytes(size),
    `${exact ? '' : 'estimated from a sample'}${detail === undefined ? '' : ` (${detail})`}`.trim(),
  ]);
  const held = ['memory of this process', `${grouped(memory.entries)} pages`, bytes(memory.bytes)];
  return [
    `${mode} ${percent(fraction)} of ${domain}`,
    indented(columns([...rows, held])),
    ...survivalLines(engine, fraction).map((line) => indented(line)),
  ].join('\n');
}

/** What its engine would get, and whether it can carry that. */
function survivalLines(estimate: SurvivalEstimate, fraction: number): readonly string[] {
  const { seconds, searches, hitRatio, engineCallMs, engineCallsPerSecond, survivable } = estimate;
  const measured = `measured over ${plural(searches, 'search', 'searches')} in ${duration(seconds * 1000)}`;
  if (hitRatio === undefined) return [`engine: nothing can be said without traffic (${measured})`];
  const more = estimate.extraCallsPerSecond;
  const cost = engineCallMs === undefined ? '' : ` of ${figure(engineCallMs)} ms`;
  const lines = [
    `engine: ${figure(engineCallsPerSecond)} calls/s${cost} now at a hit ratio of ${percent(hitRatio)}${
      more === undefined ? '' : `; at most ${figure(more)}/s more right after it`
    } (${measured})`,
  ];
  if (survivable === undefined) return [...lines, 'survivable f*: too little load to say'];
  const why = `headroom H at least ${figure(estimate.headroom)}, amplification A at most ${figure(estimate.amplification)}`;
  lines.push(`survivable f* = (H − 1)/(A − 1) = at least ${percent(survivable)} of the keys at once (${why})`);
  if (fraction > survivable) lines.push('! more than that: searches may be shed until it is refilled');
  return lines;
}

/** The part of the answer to a flush or a purge that says how many pages it affected. */
export interface AffectedAnswer {
  readonly note: string;
  readonly watch: readonly string[];
}

export function affectedLines({ note, watch }: AffectedAnswer): readonly string[] {
  return [indented(note), indented(`watch: ${watch.join('\nwatch: ')}`)];
}
