import type { FlushPreview } from '../../flush/flush.ts';
import { element, type Markup, said } from '../../report/markup.ts';
import { bytesText, countText, durationText, percentText, perSecondText } from '../../report/number-text.ts';
import { table } from '../../report/table.ts';
import type { Track } from './track.ts';

type Node = FlushPreview['nodes'][number];

/** What was shown before the start. */
export function dryRun({ preview }: Track): Markup | undefined {
  if (preview === undefined) return undefined;
  const { engine, memory, nodes } = preview;
  const sentence = [
    `Before the start, the last stage (${percentText(preview.fraction)}, ${preview.mode}) was expected to touch ${keysText(nodes, memory)}.`,
    engine.searches > 0
      ? `From ${countText(engine.searches)} searches in ${durationText(engine.seconds * 1000)} of one process: hit ratio ${percentText(engine.hitRatio)}, ${perSecondText(engine.engineCallsPerSecond)} to the engine, ${durationText(engine.engineCallMs)} each.`
      : 'There was no traffic to estimate the load on the engine from.',
  ];
  return element(
    'div',
    {},
    element('p', {}, sentence.join(' ')),
    table<Node>({
      caption: 'Dry run, node by node',
      narrow: 'cards',
      columns: [
        { title: 'Node', cell: ({ node }) => said(node) },
        { title: 'Keys', isNumber: true, cell: ({ keys, exact }) => `${exact ? '' : '≈ '}${countText(keys)}` },
        { title: 'Size', isNumber: true, cell: ({ bytes, exact }) => `${exact ? '' : '≈ '}${bytesText(bytes)}` },
        { title: 'Remark', cell: ({ detail }) => (detail === undefined ? '' : said(detail)) },
      ],
      rows: nodes,
    }),
  );
}

function keysText(nodes: readonly Node[], memory: FlushPreview['memory']): string {
  const own = `${countText(memory.entries)} entries (${bytesText(memory.bytes)}) in the memory of one process`;
  if (nodes.length === 0) return own;
  const [keys, bytes] = [
    nodes.reduce((sum, node) => sum + node.keys, 0),
    nodes.reduce((sum, node) => sum + node.bytes, 0),
  ];
  const about = nodes.every(({ exact }) => exact) ? '' : 'about ';
  return `${about}${countText(keys)} keys (${bytesText(bytes)}) in the store and ${own}`;
}
