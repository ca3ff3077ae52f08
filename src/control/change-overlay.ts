import { type BucketRange, type ControlDocument, MAX_RANGES, type Overlay, type OverlayRange } from './document.ts';
import { nextGeneration } from './next-generation.ts';
import { checkRanges, joined, piecesOf } from './ranges.ts';
import { OperationRefused } from './refusal.ts';

/** What a drill takes a domain with. Its floor is given here. */
export type OverlayAsked = Omit<Overlay, 'floor'>;

/** What its owner may change of it later. */
export interface OverlayChange extends Partial<Pick<Overlay, 'ranges' | 'mode' | 'blackout' | 'cohorts'>> {
  /** Undefined, when given: on whichever node. */
  readonly nodes?: readonly string[] | undefined;
}

/** One drill per domain. @throws OperationRefused halted, drill-running */
export function beginOverlay(document: ControlDocument, asked: OverlayAsked): ControlDocument {
  const { halted, overlay } = document;
  if (halted !== undefined) {
    throw new OperationRefused('halted', `drills are halted by ${halted.by}: ${halted.reason}`);
  }
  if (overlay !== undefined) {
    throw new OperationRefused(
      'drill-running',
      `drill ${overlay.drill} runs in this domain, owned by ${overlay.owner}`,
    );
  }
  const generation = nextGeneration(document);
  const ranges = take(asked.ranges, [], generation, generation);
  return { ...document, generation, overlay: { ...asked, ranges, floor: generation } };
}

/**
 * The next stage of one's own drill. Buckets that join it get a new floor, so that what was computed since the drill
 * began is lost there too; those of earlier stages keep theirs, so that what they have refilled stays. When the nodes
 * change, all get a new one. @throws OperationRefused drill-over, control-full
 */
export function changeOverlay(document: ControlDocument, drill: string, change: OverlayChange): ControlDocument {
  const { overlay } = document;
  if (overlay?.drill !== drill) {
    throw new OperationRefused('drill-over', `drill ${drill} no longer runs in this domain`);
  }
  const { nodes: nodesBefore, ...others } = overlay;
  const { nodes: _nodes, ...changed } = change;
  const nodes = 'nodes' in change ? change.nodes : nodesBefore;
  const next: Overlay = { ...others, ...changed, ...(nodes !== undefined && { nodes }) };
  const held = isSame(nodesBefore, nodes) ? overlay.ranges : [];
  const isWider = piecesOf(held, next.ranges).some(({ left, right }) => right !== undefined && left === undefined);
  const generation = isWider ? nextGeneration(document) : document.generation;
  return { ...document, generation, overlay: { ...next, ranges: take(next.ranges, held, overlay.floor, generation) } };
}

/** Those asked for: disjoint, rising, each with the floor it has, or else with the new one. */
function take(
  asked: readonly BucketRange[],
  held: readonly OverlayRange[],
  heldFloor: number,
  newFloor: number,
): readonly OverlayRange[] {
  if (asked.length === 0) return [];
  checkRanges(asked);
  const pieces = piecesOf(held, asked).flatMap(({ from, to, left, right }): readonly OverlayRange[] =>
    right === undefined ? [] : [{ from, to, floor: left === undefined ? newFloor : (left.floor ?? heldFloor) }],
  );
  const ranges = joined(pieces, (a, b) => (a.floor === b.floor ? { ...a, to: b.to } : undefined));
  if (ranges.length > MAX_RANGES) {
    throw new OperationRefused('control-full', `a drill has at most ${MAX_RANGES} ranges, this makes ${ranges.length}`);
  }
  return ranges;
}

/** Everything is as it would be without the drill. One that is over already is no mistake. */
export function endOverlay(document: ControlDocument, drill: string): ControlDocument {
  const { overlay, ...rest } = document;
  return overlay?.drill === drill ? rest : document;
}

function isSame(left: readonly string[] | undefined, right: readonly string[] | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
