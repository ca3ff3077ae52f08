import type { Random } from '../../loadtest/random.ts';
import type { ResultSets } from '../../src/engines/sphinx/connection.ts';
import { columnOf, eof, errorOf, OK, packet } from '../fakes/searchd.ts';

/** A packet of the MySQL protocol before it is written; `announced` differs from the payload's length when damaged. */
interface Part {
  readonly sequence: number;
  readonly payload: Buffer;
  readonly announced: number;
}

const MAX_CHANGES = 3;
const EXTRAS: readonly Buffer[] = [
  OK,
  eof(),
  eof(true),
  errorOf(1064, 'syntax error'),
  Buffer.from([0xff, 0x28, 0x04]),
  Buffer.of(0xff),
  Buffer.from('\xfb/etc/passwd', 'latin1'),
  Buffer.of(1),
  Buffer.of(0xfe, 1, 0, 0, 0, 0, 0, 0, 0),
  columnOf('x'),
  Buffer.alloc(0),
];

/** One to three changes of the packets of one valid answer, whose first one has the number `first`. */
export function mutated(payloads: readonly Buffer[], first: number, random: Random): Buffer {
  let parts = payloads.map((payload, at): Part => ({ sequence: first + at, payload, announced: payload.length }));
  for (let left = random.between(1, MAX_CHANGES); left > 0; left -= 1) parts = random.pick(CHANGES)(parts, random);
  if (random.chance(0.5)) parts = parts.map((part, at) => ({ ...part, sequence: first + at }));
  const bytes = Buffer.concat(
    parts.map(({ sequence, payload, announced }) => {
      const whole = packet(sequence, payload);
      whole.writeUIntLE(Math.max(0, announced) & 0xff_ff_ff, 0, 3);
      return whole;
    }),
  );
  return random.chance(0.15) ? bytes.subarray(0, random.between(0, bytes.length)) : bytes;
}

type Change = (parts: Part[], random: Random) => Part[];

const placeIn = (list: { readonly length: number }, random: Random): number =>
  random.between(0, Math.max(0, list.length - 1));

/** One packet is replaced by those that `change` makes of it. */
function ofOne(change: (part: Part, random: Random) => readonly Part[]): Change {
  return (parts, random) => {
    const at = placeIn(parts, random);
    const part = parts[at];
    return part === undefined ? parts : parts.toSpliced(at, 1, ...change(part, random));
  };
}

function withByte({ payload, ...part }: Part, at: number, byte: number): Part {
  const copy = Buffer.from(payload);
  if (at < copy.length) copy[at] = byte;
  return { ...part, payload: copy };
}

const CHANGES: readonly Change[] = [
  // A bit, a byte, and a first byte that means something.
  ofOne((part, random) => {
    const at = placeIn(part.payload, random);
    return [withByte(part, at, (part.payload[at] ?? 0) ^ (1 << random.between(0, 7)))];
  }),
  ofOne((part, random) => [withByte(part, placeIn(part.payload, random), random.between(0, 255))]),
  ofOne((part, random) => [
    withByte(
      part,
      random.chance(0.5) ? 0 : placeIn(part.payload, random),
      random.pick([0, 1, 2, 8, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff]),
    ),
  ]),
  // The length of the packet, and its number.
  ofOne((part, random) => [
    {
      ...part,
      announced: random.pick([0, 1, part.announced - 1, part.announced + 1, 0xff_ff, 0xff_ff_fe, 0xff_ff_ff]),
    },
  ]),
  ofOne((part, random) => [{ ...part, sequence: random.between(0, 255) }]),
  // A shorter or longer payload, with the length that it has or had.
  ofOne(({ payload, ...part }, random) => {
    const cut = payload.subarray(0, placeIn(payload, random));
    return [{ ...part, payload: cut, announced: random.chance(0.7) ? cut.length : part.announced }];
  }),
  ofOne(({ payload, ...part }, random) => {
    const longer = Buffer.concat([payload, Buffer.from('more'.repeat(random.between(1, 80)))]);
    return [{ ...part, payload: longer, announced: random.chance(0.7) ? longer.length : part.announced }];
  }),
  // A packet less, twice, elsewhere, or one more.
  ofOne(() => []),
  ofOne((part, random) => Array<Part>(random.between(2, 40)).fill(part)),
  (parts, random) => {
    const [at, to] = [placeIn(parts, random), placeIn(parts, random)];
    return parts.toSpliced(at, 1).toSpliced(to, 0, ...parts.slice(at, at + 1));
  },
  ofOne((part, random) => {
    const payload = random.pick(EXTRAS);
    return [part, { sequence: part.sequence + 1, payload, announced: payload.length }];
  }),
  ofOne((part, random) => {
    const payload = random.pick(EXTRAS);
    return [{ sequence: part.sequence, payload, announced: payload.length }];
  }),
];

/** The result sets of a reply, read apart from the product. Undefined when it is not whole or not well-formed. */
export function setsIn(reply: Buffer): ResultSets | undefined {
  const packets = payloadsIn(reply);
  const sets: (string | null)[][][] = [];
  let at = 0;
  const next = (): Buffer => packets[at++] ?? Buffer.alloc(0);
  for (let more = true; more; ) {
    const head = next();
    const columns = head.length === 1 ? (head[0] ?? 0) : 0;
    if (columns < 1 || columns > 0xfa) return undefined;
    for (let column = 0; column < columns; column += 1) if (textsIn(next(), 6) === undefined) return undefined;
    if (!isEof(next())) return undefined;
    const rows: (string | null)[][] = [];
    for (;;) {
      const payload = next();
      if (isEof(payload)) {
        more = ((payload[3] ?? 0) & 8) !== 0;
        break;
      }
      const row = textsIn(payload, columns);
      if (payload[0] === 0xff || row === undefined || row.rest !== 0) return undefined;
      rows.push([...row.texts]);
    }
    sets.push(rows);
  }
  return sets;
}

const isEof = (payload: Buffer): boolean => payload[0] === 0xfe && payload.length >= 5 && payload.length < 9;

/** The payloads up to the first packet with a wrong number or without its end. */
function payloadsIn(bytes: Buffer): readonly Buffer[] {
  const payloads: Buffer[] = [];
  let at = 0;
  while (at + 4 <= bytes.length && bytes[at + 3] === ((payloads.length + 1) & 255)) {
    const end = at + 4 + bytes.readUIntLE(at, 3);
    if (end > bytes.length) break;
    payloads.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return payloads;
}

function textsIn(
  payload: Buffer,
  count: number,
): { readonly texts: readonly (string | null)[]; readonly rest: number } | undefined {
  const texts: (string | null)[] = [];
  let at = 0;
  for (let text = 0; text < count; text += 1) {
    const first = payload[at];
    if (first === undefined) return undefined;
    at += 1;
    if (first === 0xfb) {
      texts.push(null);
      continue;
    }
    const width = first < 0xfb ? 0 : first === 0xfc ? 2 : first === 0xfd ? 3 : 9;
    if (width === 9 || at + width > payload.length) return undefined;
    const length = width === 0 ? first : payload.readUIntLE(at, width);
    at += width;
    if (at + length > payload.length) return undefined;
    texts.push(payload.toString('utf8', at, at + length));
    at += length;
  }
  return { texts, rest: payload.length - at };
}
