/**
 * Ranks 0 … size − 1, rank r drawn with a probability proportional to 1 / (r + 1)^exponent: how often searches of a site
 * are repeated. One table, one binary search per draw.
 */
export function createZipf(options: {
  readonly size: number;
  readonly exponent: number;
  readonly random: () => number;
}): () => number {
  const { size, exponent, random } = options;
  const upTo = new Float64Array(size);
  let sum = 0;
  for (let rank = 0; rank < size; rank += 1) {
    sum += (rank + 1) ** -exponent;
    upTo[rank] = sum;
  }
  return () => {
    const wanted = random() * sum;
    let low = 0;
    let high = size - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] ?? sum) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
