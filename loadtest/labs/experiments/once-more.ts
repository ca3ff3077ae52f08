/**
 * A row that something else disturbed is measured once more, and no more often: it counts as it is then.
 * @param isDisturbed by figures that are not what the experiment varies @param again hears that it is measured again
 */
export async function onceMore<T>(
  measure: () => Promise<T>,
  isDisturbed: (row: T) => boolean,
  again: () => void,
): Promise<T> {
  const row = await measure();
  if (!isDisturbed(row)) return row;
  again();
  return measure();
}
