import type { Played } from './play.ts';
import { GENERATED_ID } from './servers.ts';
import type { Stream } from './streams.ts';

/** An answer's bytes in which each part that may differ between two servers has a placeholder, and these parts. */
interface Normalised {
  readonly text: string;
  readonly dates: readonly string[];
  /** Generated ids. */
  readonly ids: readonly string[];
  /** Total durations of Server-Timing, in milliseconds. */
  readonly totals: readonly string[];
}

/** Names in any case: the names stay in the text and are compared. */
const VARIABLE = /(\r\n(?:date|x-request-id|server-timing): )([^\r\n]*)/gi;
const DATE = /^(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
const TOTAL = /(, total;dur=)(\d+(?:\.\d{1,3})?)$/;

/** The length of the body of /readyz, and the figures in it that no two processes share. */
const READINESS =
  /(content-length: )(\d+)(\r\n(?:[^\r\n]+\r\n)*\r\n)(\{"status":"\w+","process":\{"state":"\w+","inFlight":)\d+(,"maxInFlight":\d+,"loopDelayMs":)\d+([^\r\n]*?\}\n?)(?=HTTP\/1\.1 |$)/gi;

function withoutFigures(text: string): string {
  return text.replace(READINESS, (whole, name: string, length: string, between: string, ...body: string[]) => {
    const [start = '', middle = '', rest = ''] = body;
    const isLength = Number(length) === whole.length - name.length - length.length - between.length;
    return isLength ? `${name}#${between}${start}#${middle}#${rest}` : whole;
  });
}

/** A value that has not its form stays in the text, so that it makes a difference. */
function normalise(bytes: string): Normalised {
  const [dates, ids, totals]: string[][] = [[], [], []];
  const text = bytes.replace(VARIABLE, (whole, name: string, value: string) => {
    switch (name.charAt(2).toLowerCase()) {
      case 'd':
        if (!DATE.test(value)) return whole;
        dates?.push(value);
        return `${name}#`;
      case 'x':
        if (!GENERATED_ID.test(value)) return whole;
        ids?.push(value);
        return `${name}#`;
      default:
        return `${name}${value.replace(TOTAL, (_total, start: string, figure: string) => {
          totals?.push(figure);
          return `${start}#`;
        })}`;
    }
  });
  return {
    text: text.includes('"loopDelayMs"') ? withoutFigures(text) : text,
    dates: dates ?? [],
    ids: ids ?? [],
    totals: totals ?? [],
  };
}

export interface Comparison {
  /** Undefined: no difference, or a known one. */
  readonly difference: string | undefined;
  /** The answers differ in the way that `isKnown` describes. */
  readonly known: boolean;
  readonly answers: number;
}

export interface Comparer {
  readonly compare: (stream: Stream, lane: Played, alone: Played) => Comparison;
  /** To be called when the clock or the content was changed. */
  readonly timePassed: () => void;
  /** Faults of the values that may differ, over all streams. */
  readonly faults: () => readonly string[];
}

/** Dates are in whole seconds, and a second may pass between an answer and its check. */
const DATE_MARGIN_MS = 3000;
/** Age and tag of an answer out of memory. */
const HIT = /\r\nage: (\d+)\r\netag: "([\w-]{16})[^"]*"\r\nvary: [^\r]*\r\ncache-status: serpcache-l1; hit/gi;
/** Fewer durations may be equal by chance. */
const MIN_TOTALS = 50;

/** @param agesOf see `Sides`: both servers use the same functions, so equal ages may be wrong together. */
export function createComparer(agesOf: (etag: string) => readonly number[]): Comparer {
  const startedMs = Date.now();
  const faults = new Set<string>();
  const seenDates = new Set<string>();
  const seenTotals = new Set<string>();
  let totalsInLane = 0;
  const lastIds = { lane: new Set<string>(), alone: new Set<string>() };

  const check = (name: 'lane' | 'alone', { dates, ids, totals }: Normalised, byLane: boolean): void => {
    for (const date of dates) {
      if (seenDates.has(date)) continue;
      seenDates.add(date);
      const ms = Date.parse(date);
      if (ms < startedMs - DATE_MARGIN_MS || ms > Date.now() + DATE_MARGIN_MS)
        faults.add(`${name}: a wrong Date: ${date}`);
    }
    for (const id of ids) {
      if (lastIds[name].has(id)) faults.add(`${name}: two answers with the id ${id}`);
      lastIds[name].add(id);
    }
    if (!byLane) return;
    totalsInLane += totals.length;
    for (const total of totals) seenTotals.add(total);
  };

  const knownAges = new Map<string, readonly number[]>();
  const checkAges = (text: string): void => {
    for (const [, age = '', etag = ''] of text.matchAll(HIT)) {
      const ages = knownAges.get(etag) ?? agesOf(etag);
      knownAges.set(etag, ages);
      if (!ages.includes(Number(age))) faults.add(`lane: the age of ${etag} is ${age} instead of ${ages.join(' or ')}`);
    }
  };

  return {
    timePassed: () => knownAges.clear(),
    compare: (stream, lane, alone) => {
      const [fast, plain] = [normalise(lane.text), normalise(alone.text)];
      check('lane', fast, lane.requests === 0);
      check('alone', plain, false);
      checkAges(lane.text);
      const same =
        fast.text === plain.text &&
        lane.closedBy === alone.closedBy &&
        lane.written === alone.written &&
        (lane.closedBy === 'stuck' ||
          answersIn(lane.text.slice(0, lane.beforeEnd)) === answersIn(alone.text.slice(0, alone.beforeEnd)));
      const known = !same && isKnown(stream, { lane, alone }, [fast.text, plain.text]);
      return {
        known,
        difference: same || known ? undefined : differenceOf(stream, { lane, alone }, [fast.text, plain.text]),
        answers: fast.dates.length,
      };
    },
    faults: () => {
      const all = [...faults];
      if (totalsInLane > MIN_TOTALS && seenTotals.size === 1)
        all.push(`the total of Server-Timing is always ${[...seenTotals].join('')} in the lane`);
      return all;
    },
  };
}

interface BothPlayed {
  readonly lane: Played;
  readonly alone: Played;
}

function isKnown(stream: Stream, played: BothPlayed, texts: readonly [string, string]): boolean {
  return [isOtherOrder, isAhead, isUpgrade, isOfRtsp].some((rule) => rule(stream, played, texts));
}

/**
 * The first known difference: Node parses a chunk that was handed over inside of a callback, and runs no tick before the chunk
 * ends. Without a lane it runs ticks after each piece of a body. So a request with a body may be answered before or after
 * Node refuses the next bytes of the same chunk. Both servers close the connection, and one of them sends the first of the
 * answers that the other sends.
 */
function isOtherOrder(
  { chunks, ending }: Stream,
  { lane, alone }: BothPlayed,
  [fast, plain]: readonly [string, string],
): boolean {
  const isClosed = lane.closedBy === 'server' || (lane.closedBy === 'client' && ending === 'early');
  if (!isClosed || lane.closedBy !== alone.closedBy || lane.requests === 0) return false;
  if (!chunks.some((chunk) => WITH_BODY.test(chunk))) return false;
  const [one, other] = [fast.replace(PARSER_ERROR, ''), plain.replace(PARSER_ERROR, '')];
  return one.startsWith(other) || other.startsWith(one);
}

/**
 * The second known difference: Node parses the chunks that follow a request whose answer comes later, and listener.ts closes
 * the connection when more than 32 requests wait. The lane keeps such a chunk unread, and answers it in its turn.
 */
function isAhead({ chunks }: Stream, { lane, alone }: BothPlayed, [fast, plain]: readonly [string, string]): boolean {
  const sizes = chunks.map((chunk) => chunk.split(HEAD_END).length - 1);
  const isSpread = sizes.every((heads) => heads <= MAX_WAITING);
  if (!isSpread || sizes.reduce((sum, heads) => sum + heads, 0) <= MAX_WAITING + 1) return false;
  return alone.closedBy === 'server' && lane.written >= alone.written && fast.startsWith(plain);
}

/**
 * The third known difference: Node loses what follows a request for an upgrade in its chunk, so listener.ts closes with the
 * answer. The lane ignores the wish and goes on.
 */
function isUpgrade({ chunks }: Stream, { alone }: BothPlayed, [fast, plain]: readonly [string, string]): boolean {
  if (alone.closedBy !== 'server' || !/^upgrade *:/im.test(chunks.join(''))) return false;
  const [one, other] = [fast, plain].map((text) => text.replace(CONNECTION, '')) as [string, string];
  return one.startsWith(other);
}

/** The fourth known difference: the lane refuses RTSP/1.x, which Node's parser gives as HTTP of the same number. */
function isOfRtsp({ chunks }: Stream, { lane }: BothPlayed, [fast, plain]: readonly [string, string]): boolean {
  if (lane.closedBy !== 'server' || !/ RTSP\//.test(chunks.join(''))) return false;
  return PARSER_ERROR.test(fast) && plain.startsWith(fast.replace(PARSER_ERROR, ''));
}

const CONNECTION = /\r\n(?:connection: (?:keep-alive|close)|keep-alive: timeout=\d+)(?=\r\n)/gi;

/** The limit of listener.ts. */
const MAX_WAITING = 32;
const HEAD_END = '\r\n\r\n';

const WITH_BODY = /^(?:content-length|transfer-encoding)/im;
/** An answer of client-error.ts, which has no Date: always the last one. */
const PARSER_ERROR =
  /HTTP\/1\.1 \d{3} [^\r]*\r\n(?!(?:[^\r]+\r\n)*date)(?:[^\r]+\r\n)*connection: close\r\n\r\n[^\r]*$/i;

/** Two servers end at different bytes when their generated ids have different lengths. */
function answersIn(bytes: string): number {
  return bytes.split(/HTTP\/1\.1 \d{3} /).length - 1;
}

function differenceOf(
  stream: Stream,
  { lane, alone }: { readonly lane: Played; readonly alone: Played },
  [fast, plain]: readonly [string, string],
): string {
  const at = firstDifference(fast, plain);
  const fate = ({ closedBy, written, beforeEnd, text }: Played): string =>
    `closed by ${closedBy}, ${written} chunks written, ${answersIn(text.slice(0, beforeEnd))} answers before the end`;
  return [
    shown(stream),
    `  lane:  ${fate(lane)}, ${lane.requests} requests to Node${around(fast, at)}`,
    `  alone: ${fate(alone)}${around(plain, at)}`,
  ].join('\n');
}

/** The bytes of a stream, one line for each chunk. */
export function shown({ kind, name, chunks, ending }: Stream): string {
  const lines = chunks.map((chunk) => `  > ${escaped(chunk)}`);
  return [`${name ?? kind}, ${chunks.length} chunks, end: ${ending}`, ...lines].join('\n');
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at === one.length && at === other.length ? -1 : at;
}

const [SHOWN_BEFORE, SHOWN_AFTER] = [150, 400];

/** The answers of one side, with the place of the first difference. */
function around(text: string, at: number): string {
  if (at < 0) return '';
  const from = Math.max(0, at - SHOWN_BEFORE);
  return `; from byte ${from}, first difference at byte ${at}\n  < ${escaped(text.slice(from, at + SHOWN_AFTER))}`;
}

const MAX_ESCAPED = 1500;

/** One line in which every byte can be read. */
function escaped(bytes: string): string {
  const text = bytes
    .slice(0, MAX_ESCAPED)
    .replace(/[^ -~]|\\/g, (byte) => ESCAPES[byte] ?? `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return bytes.length > MAX_ESCAPED ? `${text}… (${bytes.length} bytes)` : text;
}

const ESCAPES: Readonly<Record<string, string>> = { '\r': '\\r', '\n': '\\n', '\t': '\\t', '\\': '\\\\' };
