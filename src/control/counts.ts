import { type ControlDocument, MAX_GENERATION, tagOf } from './document.ts';

const EPOCH_MS = Date.UTC(2020, 0, 1);
/** A clock that shows less is wrong: this version did not exist then. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);
/** Beyond one change a second since 2020 on average: 8.5 years of changes or of clock error. */
const AHEAD = 2 ** 28;
/** More than a fleet changes while one process does not hear of it: a burst, and so many changes a second. */
const MAX_STEP = 2 ** 20;
const MAX_STEP_PER_SECOND = 100;

/** Seconds since 2020, where new lines begin to count. Negative for a clock that shows less. */
export function secondsSince2020(wallMs: number): number {
  return Math.floor((wallMs - EPOCH_MS) / 1000);
}

/**
 * The highest revision and the highest generation a document may have by this clock. It rises with the clock, so a
 * document that somebody put right at the limit allows one more change each second and never stops a domain for good.
 */
export function countLimit(nowMs: number): number {
  return Math.min(MAX_GENERATION, secondsSince2020(Math.max(nowMs, EARLIEST_MS)) + AHEAD);
}

export interface StepContext {
  /** Nothing is known at revision 0: then only the limit counts. */
  readonly known: ControlDocument;
  readonly nowMs: number;
  /** Since this process last read a document or its absence. */
  readonly silentMs: number;
}

/**
 * Why a document is further ahead of the known one than changes can have taken it; undefined when it is not. One that
 * names the known one in its line is not judged: another process may have joined what this one refuses with what it knows,
 * and the two would write over each other for ever.
 */
export function stepFault(stored: ControlDocument, { known, nowMs, silentMs }: StepContext): string | undefined {
  if (known.revision === 0 || stored.line?.includes(tagOf(known)) === true) return undefined;
  const most = MAX_STEP + Math.ceil((silentMs / 1000) * MAX_STEP_PER_SECOND);
  if (stored.revision > known.revision + most) {
    return `revision ${stored.revision} is more than ${most} above ${known.revision}, which is known here`;
  }
  // A line that began anew counts from the seconds since 2020, however few the known one has used.
  const from = Math.max(known.generation, secondsSince2020(nowMs));
  if (stored.generation <= from + most) return undefined;
  return `generation ${stored.generation} is more than ${most} above ${known.generation}, which is known here`;
}
