/**
 * Numeric attributes in searchd have no NULL, and 0 is a value like any other. Where a document lacks an attribute the
 * indexes we generate hold −2^62, which a bigint and a float32 both hold exactly; an index made by others simply never
 * has it. Text attributes are missing when empty.
 */
export const MISSING = '-4611686018427387904';

/**
 * Everything below is missing. Compared with this rather than with MISSING itself, because searchd turns an integer
 * bound of a float attribute into a float32 and then no longer tells the two apart.
 */
export const MISSING_BELOW = '-4000000000000000000';

/** The day searchd computes for a missing date is far below any real one. */
const MISSING_DAY_BELOW = Math.trunc(Number(MISSING_BELOW) / 86_400);

export function isMissing(text: string): boolean {
  return Number(text) < Number(MISSING_BELOW);
}

export function isMissingDay(text: string): boolean {
  return Number(text) < MISSING_DAY_BELOW;
}
