import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };

/**
 * Any code point that is no half of a surrogate pair, as a unit of `fc.string`. The unit `binary` of fast-check means the same, and
 * makes a table of a million characters first: 1 s of CPU in each process.
 */
export const anyCharacter = fc.nat({ max: 0x10ffff - SURROGATES.count }).map(
  (place) => String.fromCodePoint(place < SURROGATES.from ? place : place + SURROGATES.count),
  (character) => {
    const [only, ...others] = typeof character === 'string' ? character : '';
    if (only === undefined || others.length > 0 || !only.isWellFormed()) throw new TypeError('not one character');
    const code = only.codePointAt(0) ?? 0;
    return code < SURROGATES.from ? code : code - SURROGATES.count;
  },
);
