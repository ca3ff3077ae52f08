/** Positions of what stands earlier in the list already. Holes repeat nothing. */
export function repeats(items: readonly (string | undefined)[]): readonly number[] {
  return items.flatMap((item, index) => (item !== undefined && items.indexOf(item) < index ? [index] : []));
}
