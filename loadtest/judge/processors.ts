/** The processors that a list for taskset names: `0-2,5`. What is none is left out. */
export function processorsOf(list: string): readonly number[] {
  return list
    .trim()
    .split(',')
    .flatMap((range) => {
      const [from = Number.NaN, to = from] = range === '' ? [] : range.split('-').map(Number);
      return Number.isInteger(from) && to >= from ? Array.from({ length: to - from + 1 }, (_, i) => from + i) : [];
    });
}

/** How many: 4 of `0-2,5`. Undefined without a list. */
export function processorsIn(list: string | undefined): number | undefined {
  return list === undefined ? undefined : processorsOf(list).length || undefined;
}
