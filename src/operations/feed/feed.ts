import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import { createChangeReader } from '../../catalogue/read.ts';
import { RowFault } from '../../catalogue/row.ts';
import { type Change, type ChangedAttributes, parseChange } from '../../changes/change.ts';
import type { Changes } from '../../changes/create-changes.ts';
import { OperationError } from '../../control/operation-error.ts';
import { count, type Decoded } from '../../schema/fields.ts';
import type { Attribute, Document } from '../../search/domain.ts';
import type { Engine, IndexChange } from '../../search/engine.ts';

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

/** The lines by which other programs tell what has changed in a domain. Each method takes those of one call. */
export type DocumentFeed = ReturnType<typeof createFeed>;

interface FeedOptions {
  readonly domain: string;
  readonly attributes: readonly Attribute[];
  /** Absent: the domain has no feed of changes. */
  readonly changes: Pick<Changes, 'publish' | 'indexReplaced'> | undefined;
  /** Absent: the engine takes documents by its own writes only. */
  readonly update: Engine['update'];
}

/** An update of 10,000 documents takes seconds. */
const UPDATE_DEADLINE_MS = 60_000;
const MAX_OWED = 10_000;

export function createFeed({ domain, attributes, changes, update }: FeedOptions) {
  const fed = () => {
    if (changes !== undefined) return changes;
    const detail = `${domain} has no feed of changes: give it the section domains.${domain}.changes, which may be empty ({}), and restart`;
    throw new OperationError('no-feed', detail, '/domain');
  };
  /** Changes of the index that the feed did not take: a second attempt of their call does not find the old values. */
  let owed: readonly Change[] = [];
  const tell = async (made: readonly IndexChange[] = []): Promise<void> => {
    const { publish, indexReplaced } = fed();
    const sent = [...owed, ...made.map((one) => changeOf(one, attributes))];
    owed = [];
    try {
      if (sent.length > 0) await publish(sent);
    } catch (error) {
      owed = [...sent, ...owed].slice(0, MAX_OWED);
      // Older pages of this process count as changed.
      if (made.length > 0) indexReplaced();
      throw error;
    }
  };

  return {
    /** Publishes changes, and answers when they are in force here. @throws OperationError no-feed, control-unavailable */
    changes: async (lines: AsyncIterable<FeedLine>): Promise<Taken> => {
      const { publish } = fed();
      const { read, answer } = await readLines(lines, parseChange);
      await tell();
      if (read.length > 0) await publish(read.map(({ change }) => change));
      return { domain, ...answer(0) };
    },
    /**
     * Updates the engine's index, and then publishes the changes of its documents. Of several lines with one id the last counts.
     * @throws OperationError no-live-documents, no-feed, control-unavailable; SearchError of the engine
     */
    documents: async (lines: AsyncIterable<FeedLine>): Promise<Taken> => {
      if (update === undefined) {
        const detail = `the engine of ${domain} takes documents by its own writes only: write there, and then tell POST /admin/changes`;
        throw new OperationError('no-live-documents', detail, '/domain');
      }
      let isCut = false;
      const parse = createChangeReader(attributes, (note) => {
        isCut ||= note.includes(': cut to ');
      });
      const { read, refuse, answer } = await readLines(lines, (text) => {
        isCut = false;
        return { ...parse(text), cut: isCut };
      });
      const lineOf = new Map(read.map(({ id, line }) => [id, line]));
      // The index does not change while the feed takes nothing.
      await tell();
      let changed: readonly IndexChange[] = [];
      try {
        if (read.length > 0) changed = await update(read, AbortSignal.timeout(UPDATE_DEADLINE_MS));
      } catch (error) {
        // The index may have been updated all the same.
        await tell(read.map(({ id, document }) => ({ id, after: document })));
        throw error;
      }
      const faulty = changed.filter(({ fault }) => fault !== undefined);
      for (const { id, fault = '' } of faulty) refuse(lineOf.get(id) ?? 0, fault);
      await tell(changed.filter(({ fault }) => fault === undefined));
      return { domain, ...answer(faulty.length) };
    },
  };
}

/** The change of an index as the feed has it. An attribute without a value has an empty list. */
function changeOf({ id, before, after }: IndexChange, attributes: readonly Attribute[]): Change {
  const valuesOf = (document: Document): ChangedAttributes =>
    Object.fromEntries(attributes.map(({ name }) => [name, document.attributes[name] ?? []]));
  const shown = after ?? before;
  if (shown === undefined) return { id, op: 'delete' };
  const now = { id, text: textsOf(shown), attributes: valuesOf(shown) };
  if (after === undefined) return { ...now, op: 'delete' };
  // The same document again may be the second attempt of a call whose changes did not reach the feed.
  if (before === undefined || isDeepStrictEqual(before, after)) return { ...now, op: 'upsert' };
  return { ...now, op: 'upsert', was: { text: textsOf(before), attributes: valuesOf(before) } };
}

const textsOf = ({ title, description }: Document): string => `${title} ${description}`;

const utf8 = new TextDecoder();

/** Parses each line that is not empty. A byte order mark is left out. `answer` is that of the call, less lines that were faulty later. */
async function readLines<Value extends { readonly cut: boolean }>(
  lines: AsyncIterable<FeedLine>,
  parse: (text: string) => Value,
) {
  const read: (Value & { readonly line: number })[] = [];
  const first: { readonly line: number; readonly detail: string }[] = [];
  let refusedCount = 0;
  /** A fault may quote a line, so it is cut. */
  const refuse = (line: number, detail: string): void => {
    refusedCount += 1;
    if (first.length < MAX_REFUSED) first.push({ line, detail: detail.slice(0, MAX_DETAIL).toWellFormed() });
  };
  for await (const given of lines) {
    const { line } = given;
    try {
      if ('fault' in given) throw new Error(given.fault);
      if (!isUtf8(given.bytes)) throw new Error('it is not UTF-8');
      const text = utf8.decode(given.bytes);
      if (text.trim() !== '') read.push({ ...parse(text), line });
    } catch (error) {
      const field = error instanceof RowFault && error.field !== undefined ? `${error.field}: ` : '';
      refuse(line, `${field}${error instanceof Error ? error.message : error}`);
    }
  }
  const answer = (faulty: number): Omit<Taken, 'domain'> => ({
    taken: read.length - faulty,
    refused: first.toSorted((a, b) => a.line - b.line),
    refusedCount,
    cut: read.filter(({ cut }) => cut).length,
  });
  return { read, refuse, answer };
}
