import { FIGURES, type Figure } from './figures.ts';
import { isOurs, type Outcome } from './outcome.ts';

/** One peer against serpcache in one figure. */
export interface Compared {
  readonly figure: Figure;
  readonly peer: string;
  readonly theirs: number;
  readonly oursName: string;
  readonly ours: number;
  readonly ahead: 'peer' | 'serpcache' | 'neither';
  /** How many times better whoever is ahead is. Undefined where one of both is nothing, or never came. */
  readonly factor: number | undefined;
}

/** What is nearer than this is level: rounds of the same server differ by as much. */
const LEAD = 0.05;

/** Every figure that both have, of every peer; nothing of serpcache with itself. */
export function compareAll(outcomes: readonly Outcome[], figures: readonly Figure[] = FIGURES): readonly Compared[] {
  return figures.flatMap((figure) =>
    outcomes.flatMap((outcome) => {
      if (isOurs(outcome)) return [];
      const oursName = figure.ours(outcome);
      const own = outcomes.find(({ peer }) => peer.name === oursName);
      const [theirs, ours] = [figure.of(outcome), own === undefined ? undefined : figure.of(own)];
      return theirs === undefined || ours === undefined
        ? []
        : [compare(figure, outcome.peer.name, theirs, oursName, ours)];
    }),
  );
}

function compare(figure: Figure, peer: string, theirs: number, oursName: string, ours: number): Compared {
  const [more, less] = [Math.max(theirs, ours), Math.min(theirs, ours)];
  const isLevel = more === less || more - less < (figure.resolution ?? 0) || (less > 0 && more / less <= 1 + LEAD);
  const isPeer = figure.better === 'more' ? theirs > ours : theirs < ours;
  return {
    figure,
    peer,
    theirs,
    oursName,
    ours,
    ahead: isLevel ? 'neither' : isPeer ? 'peer' : 'serpcache',
    factor: less > 0 && Number.isFinite(more) ? more / less : undefined,
  };
}
