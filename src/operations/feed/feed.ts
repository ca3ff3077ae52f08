import { Type } from 'typebox';
import { type Change, parseChange } from '../../changes/change.ts';
import type { Changes } from '../../changes/create-changes.ts';
import { OperationError } from '../../control/operation-error.ts';
import { count, type Decoded } from '../../schema/fields.ts';

const MAX_REFUSED = 100;
const MAX_DETAIL = 200;

export const REFUSED_LINES = Type.Array(Type.Object({ line: Type.Integer({ minimum: 1 }), detail: Type.String() }), {
  maxItems: MAX_REFUSED,
  description: `Lines of the body that were not taken, from 1, and why; the first ${MAX_REFUSED}.`,
});

export const TAKEN = Type.Object({
  domain: Type.String(),
  taken: count(
    'Number of lines that were taken. Their changes are in force in this process, and within a second in all.',
  ),
  refused: REFUSED_LINES,
  refusedCount: count('Number of all lines that were not taken.'),
  cut: count('Number of taken lines of which a text was cut.'),
});
export type Taken = Decoded<typeof TAKEN>;

/** A line of a call, from 1, without its end; or why it was not read. */
export type FeedLine = { readonly line: number } & ({ readonly bytes: Uint8Array } | { readonly fault: string });

/** What other programs tell the service about the documents of a domain. Each method takes the lines of one call. */
export type Feed = ReturnType<typeof createFeed>;

interface FeedOptions {
  readonly domain: string;
  /** Absent: the domain has no feed of changes. */
  readonly changes: Pick<Changes, 'publish'> | undefined;
}

export function createFeed({ domain, changes }: FeedOptions) {
  const fed = (): Pick<Changes, 'publish'> => {
    if (changes !== undefined) return changes;
    const detail = `${domain} has no feed of changes: give it the section domains.${domain}.changes, which may be empty ({}), and restart`;
    throw new OperationError('no-feed', detail, '/domain');
  };

  return {
    /** Publishes changes, and answers when they are in force here. @throws OperationError no-feed, control-unavailable */
    changes: async (lines: AsyncIterable<FeedLine>): Promise<Taken> => {
      const { publish } = fed();
      const { read, refused } = await readLines(lines, parseChange);
      if (read.length > 0) await publish(read.map(({ value }): Change => value.change));
      return { domain, taken: read.length, ...refused.answer(), cut: read.filter(({ value }) => value.cut).length };
    },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses each line that is not empty. A byte order mark is left out. */
async function readLines<Value>(lines: AsyncIterable<FeedLine>, parse: (text: string) => Value) {
  const read: { readonly line: number; readonly value: Value }[] = [];
  const refused = createRefused();
  for await (const given of lines) {
    const { line } = given;
    try {
      if ('fault' in given) throw new Error(given.fault);
      const text = textOf(given.bytes);
      if (text.trim() !== '') read.push({ line, value: parse(text) });
    } catch (error) {
      refused.add(line, error instanceof Error ? error.message : String(error));
    }
  }
  return { read, refused };
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Error('it is not UTF-8');
  }
}

/** The first refused lines, and the number of all. A fault may quote a line, so it is cut. */
function createRefused() {
  const first: { readonly line: number; readonly detail: string }[] = [];
  let refusedCount = 0;
  return {
    add: (line: number, detail: string): void => {
      refusedCount += 1;
      if (first.length < MAX_REFUSED) first.push({ line, detail: detail.slice(0, MAX_DETAIL).toWellFormed() });
    },
    answer: () => ({ refused: first.toSorted((a, b) => a.line - b.line), refusedCount }),
  };
}
