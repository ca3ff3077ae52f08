import type { Random } from '../../loadtest/random.ts';

/** Numbers at which a length, a range or a count changes its meaning. */
const NUMBERS = ['-1', '-2', '0', '1', '3', '16384', '163830000', '999999', '1000000', '4294967296'].concat([
  '9007199254740991',
  '9007199254740992',
  '18446744073709551616',
  '1e9',
  '%',
  '',
  '00000000000000000001',
]);
const MAX_CHANGES = 3;
const MAX_COPIES = 200;

/** One to three changes of these bytes. `others`: answers from which pieces are taken. */
export function mutated(bytes: Buffer, others: readonly Buffer[], random: Random): Buffer {
  let result = bytes;
  for (let left = random.between(1, MAX_CHANGES); left > 0; left -= 1)
    result = random.pick(CHANGES)(result, others, random);
  return result;
}

type Change = (bytes: Buffer, others: readonly Buffer[], random: Random) => Buffer;

const CHANGES: readonly Change[] = [
  // One bit.
  (bytes, _, random) => {
    const copy = Buffer.from(bytes);
    const at = placeIn(copy, random);
    if (at < copy.length) copy.writeUInt8(copy.readUInt8(at) ^ (1 << random.between(0, 7)), at);
    return copy;
  },
  // One byte, more often one that means something.
  (bytes, _, random) => {
    const copy = Buffer.from(bytes);
    const at = placeIn(copy, random);
    if (at < copy.length)
      copy.writeUInt8(random.chance(0.5) ? random.between(0, 255) : '$*:+-\r\n0%'.charCodeAt(random.between(0, 8)), at);
    return copy;
  },
  // A piece less, or twice.
  (bytes, _, random) => {
    const [from, to] = pieceOf(bytes, random);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  (bytes, _, random) => {
    const [from, to] = pieceOf(bytes, random);
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  },
  // Its beginning only.
  (bytes, _, random) => bytes.subarray(0, placeIn(bytes, random)),
  // Another number.
  (bytes, _, random) => {
    const text = bytes.toString('latin1');
    const found = [...text.slice(0, 4096).matchAll(/\d+/g)];
    if (found.length === 0) return bytes;
    const { 0: number, index } = random.pick(found.slice(0, 12));
    return Buffer.from(text.slice(0, index) + random.pick(NUMBERS) + text.slice(index + number.length), 'latin1');
  },
  // Its first line many times.
  (bytes, _, random) => {
    const line = bytes.subarray(0, bytes.indexOf('\n') + 1);
    return Buffer.concat([...Array.from({ length: random.between(1, MAX_COPIES) }, () => line), bytes]);
  },
  // One more answer, before it or after it, or another one.
  (bytes, others, random) => Buffer.concat([bytes, random.pick(others)]),
  (bytes, others, random) => Buffer.concat([random.pick(others), bytes]),
  (_, others, random) => random.pick(others),
];

/** The header is as often hit as all the rest. */
function placeIn(bytes: Buffer, random: Random): number {
  return random.between(0, random.chance(0.5) ? Math.min(24, bytes.length) : bytes.length);
}

function pieceOf(bytes: Buffer, random: Random): readonly [from: number, to: number] {
  const places = [placeIn(bytes, random), placeIn(bytes, random)] as const;
  return [Math.min(...places), Math.max(...places)];
}
