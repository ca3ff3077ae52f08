export interface ZipfOptions {
  readonly size: number;
  /** Above 0; exactly 1 is allowed. */
  readonly exponent: number;
  /** Flattens the head: 0, the default, is plain Zipf, above it Zipf–Mandelbrot. */
  readonly offset?: number;
}

/**
 * Ranks 0 … size − 1, rank r drawn with a probability proportional to 1 / (r + 1 + offset)^exponent: how often searches
 * of a site are repeated. There is no table, so thousands of virtual users may have one each.
 *
 * Rejection-inversion: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
 * distributions", ACM TOMACS 6(3), 1996. A place x is drawn under a continuous hat by inverting its integral and rounded
 * to a whole place, which is kept when x lies within that place's own bar: exact for any exponent, and at most 1.02 tries on
 * average for exponents from 0.1 to 3.
 *
 * @throws RangeError when an option is out of range.
 */
export function createZipf({ size, exponent, offset = 0 }: ZipfOptions): (random: () => number) => number {
  if (!(Number.isSafeInteger(size) && size >= 1)) throw new RangeError(`size takes a whole number from 1, not ${size}`);
  if (!(exponent > 0)) throw new RangeError(`exponent takes a number above 0, not ${exponent}`);
  if (!(offset >= 0)) throw new RangeError(`offset takes a number from 0, not ${offset}`);

  // In units of the first place, or a large offset would leave few digits to the differences of the integral.
  const first = 1 + offset;
  const rest = 1 - exponent;
  const bar = (place: number): number => ((place + offset) / first) ** -exponent / first;
  /** The integral of `bar`, up to a constant. Near exponent 1 the power and the 1 would cancel out: expm1 does not. */
  const integral = (place: number): number => {
    const log = Math.log((place + offset) / first);
    return rest === 0 ? log : Math.expm1(rest * log) / rest;
  };
  const inverse = (area: number): number => {
    const log = rest === 0 ? area : Math.log1p(rest * area) / rest;
    return Math.exp(log) * first - offset;
  };
  // The first place's hat is cut to its bar, so that the most frequent one is never rejected.
  const low = integral(1.5) - bar(1);
  const high = integral(size + 0.5);
  // This near below a place every x lies within the bar; the second place's distance is the least of all.
  const surelyWithin = 2 - inverse(integral(2.5) - bar(2));

  return (random) => {
    for (let tries = 1; ; tries += 1) {
      const area = low + random() * (high - low);
      const x = inverse(area);
      const place = Math.min(size, Math.max(1, Math.round(x)));
      if (place - x <= surelyWithin || area >= integral(place + 0.5) - bar(place) || tries === MAX_TRIES) {
        return place - 1;
      }
    }
  };
}

/** A try fails two times in a hundred: only numbers that are not random come here. */
const MAX_TRIES = 16;
