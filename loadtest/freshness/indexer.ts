import type { Change } from '../../src/changes/change.ts';
import type { Document } from '../../src/search/domain.ts';
import { createRandom } from '../random.ts';
import type { DocumentWriter } from '../stack/realtime.ts';

/** The last change of a document, and the time at which its call to the feed had ended. Milliseconds of `performance.now()`. */
export interface DoneChange {
  readonly op: Change['op'];
  readonly endMs: number;
}

export type Indexer = ReturnType<typeof createIndexer>;

interface IndexerOptions {
  readonly documents: Iterable<Document>;
  readonly writer: Pick<DocumentWriter, 'replaceDocuments' | 'deleteDocuments'>;
  /** Gives changes to the feed. Resolves when the feed has taken them. */
  readonly send: (changes: readonly Change[]) => Promise<void>;
  readonly seed: number;
}

/** Prices, sales and arrivals among ten changes. */
export const PROPORTIONS = { price: 6, sale: 2, arrival: 2 } as const;
const BATCHES_PER_SECOND = 20;
/** Above every id of the catalogue. */
const FIRST_NEW_ID = 9_000_000_000_000;

/**
 * The indexer of a site, and its copy of the table: it writes changes to the engine first and then sends them to the feed. A sold
 * document never comes back. The number of documents stays the same on average.
 */
export function createIndexer({ documents, writer, send, seed }: IndexerOptions) {
  const { pick, between, weighted } = createRandom(seed);
  const table = new Map(Array.from(documents, (document) => [document.id, document]));
  const ids = [...table.keys()];
  const templates = [...table.values()];
  const last = new Map<string, DoneChange>();
  const kinds = Object.entries(PROPORTIONS).map(([kind, weight]) => ({
    kind: kind as keyof typeof PROPORTIONS,
    weight,
  }));
  const counts = { price: 0, sale: 0, arrival: 0 };
  let nextId = FIRST_NEW_ID;

  const places = new Map(ids.map((id, at) => [id, at]));
  const remove = (id: string): Document => {
    const document = known(id);
    const at = places.get(id) ?? 0;
    const moved = ids.pop() ?? '';
    if (moved !== id) {
      ids[at] = moved;
      places.set(moved, at);
    }
    places.delete(id);
    table.delete(id);
    return document;
  };
  const known = (id: string): Document => {
    const document = table.get(id);
    if (document === undefined) throw new Error(`the table has no document ${id}`);
    return document;
  };
  const repriced = (): Change => {
    const before = known(pick(ids));
    const old = Number(before.attributes['price']);
    const after = { ...before, attributes: { ...before.attributes, price: 1 + between(0, 2 * (old || 1000)) } };
    table.set(after.id, after);
    return { ...upsertOf(after), was: { attributes: { price: old } } };
  };
  const arrived = (): Change => {
    nextId += 1;
    const document = { ...pick(templates), id: String(nextId) };
    table.set(document.id, document);
    places.set(document.id, ids.push(document.id) - 1);
    return upsertOf(document);
  };
  const sold = (id = pick(ids)): Change => ({ ...upsertOf(remove(id)), op: 'delete' });

  /** Draws changes and applies them to the copy of the table. */
  const draw = (count: number): readonly Change[] =>
    Array.from({ length: count }, () => {
      const { kind } = weighted(kinds);
      counts[kind] += 1;
      return { price: repriced, sale: sold, arrival: arrived }[kind]();
    });

  let carrying: Promise<unknown> = Promise.resolve();
  /** One call after another: draws changes, writes them to the engine, and then sends them. */
  const carryOut = (drawn: () => readonly Change[]): Promise<number> => {
    const carried = carrying.then(() => carryOutNow(drawn()));
    carrying = carried.catch(() => undefined);
    return carried;
  };
  const carryOutNow = async (changes: readonly Change[]): Promise<number> => {
    const deleted = changes.filter(({ op }) => op === 'delete').map(({ id }) => id);
    const gone = new Set(deleted);
    const replaced = new Set(changes.flatMap(({ id, op }) => (op === 'upsert' && !gone.has(id) ? [id] : [])));
    if (replaced.size > 0) await writer.replaceDocuments([...replaced].map(known));
    if (deleted.length > 0) await writer.deleteDocuments(deleted);
    await send(changes);
    const endMs = performance.now();
    for (const { id, op } of changes) last.set(id, { op, endMs });
    return changes.length;
  };

  /** Carries out changes of random documents. @returns their number */
  const change = (count: number): Promise<number> => carryOut(() => draw(count));

  return {
    counts,
    change,
    lastOf: (id: string): DoneChange | undefined => last.get(id),
    /** Sells the documents of these ids that are still for sale. @returns their number */
    sell: (wanted: ReadonlySet<string>): Promise<number> =>
      carryOut(() => {
        const changes = [...wanted].filter((id) => places.has(id)).map((id) => sold(id));
        counts.sale += changes.length;
        return changes;
      }),
    /** Changes at a rate until the signal aborts. @returns changes per second that were carried out, and the longest call in ms */
    run: async (perSecond: number, seconds: number, signal: AbortSignal) => {
      const startedMs = performance.now();
      let [done, longestMs] = [0, 0];
      while (!signal.aborted && performance.now() - startedMs < seconds * 1000) {
        const beganMs = performance.now();
        const due = Math.floor(((beganMs - startedMs) / 1000) * perSecond) - done;
        const count = Math.min(due, Math.ceil((2 * perSecond) / BATCHES_PER_SECOND));
        if (count > 0) await change(count);
        done += Math.max(0, count);
        longestMs = Math.max(longestMs, performance.now() - beganMs);
        const restMs = 1000 / BATCHES_PER_SECOND - (performance.now() - beganMs);
        await new Promise((resolve) => setTimeout(resolve, Math.max(1, restMs)));
      }
      return { perSecond: done / ((performance.now() - startedMs) / 1000), longestMs };
    },
  };
}

function upsertOf({ id, title, description, attributes }: Document): Change {
  return { id, op: 'upsert', text: `${title} ${description}`, attributes };
}
