/** How many processors a list for taskset names: 4 of `0-2,5`. Undefined without a list. */
export function processorsIn(list: string | undefined): number | undefined {
  if (list === undefined) return undefined;
  const named = list.split(',').reduce((sum, part) => {
    const [from = Number.NaN, to = from] = part.split('-').map(Number);
    return sum + (to - from + 1);
  }, 0);
  return named > 0 ? named : undefined;
}
