import { secondsSince2020 } from './counts.ts';
import { type ControlDocument, MAX_GENERATION } from './document.ts';

/** However wrong a clock is, it uses up no more than all but so many. */
const SPARE_GENERATIONS = 1 << 24;

/**
 * What the first change of a domain builds on. When a document is lost with every process that knew it (or is kept
 * elsewhere from now on) a new line begins, while the store still holds entries that the lost one has numbered: counted
 * from 1, a flush would be below them. So a line begins at the seconds since 2020. It is above every line that began
 * earlier and has taken fewer than one generation a second since, on average; a burst in a line's first seconds is above
 * one that begins in those same seconds. It fits 32 bits until 2156.
 *
 * No other number comes from a clock. One that is wrong here costs something only if this line then begins below where a
 * lost one got to: a clock behind by more than the age of the lost line, or the lost one's ahead by more than that. An entry
 * of the lost line between the two is refused by what is flushed until this line has reached its generation; from then on
 * it passes what was flushed before, until it lapses.
 */
export function beginLine(document: ControlDocument, wallMs: number): ControlDocument {
  if (document.revision > 0) return document;
  const generation = Math.max(
    document.generation,
    Math.min(secondsSince2020(wallMs), MAX_GENERATION - SPARE_GENERATIONS),
  );
  return { ...document, generation };
}
