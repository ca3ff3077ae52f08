import { BUCKETS } from '../../cache/invalidation.ts';
import { lift, purge, raiseFloors, raiseFreshFloors, suppress } from '../../control/changes.ts';
import type { Changed, Control } from '../../control/control.ts';
import { arc, type BucketRange, bucketsIn, type ControlDocument } from '../../control/document.ts';
import { OperationError } from '../../control/operation-error.ts';
import type { Clock } from '../../runtime.ts';
import { isDocumentId, MAX_ID_BYTES } from '../../search/domain.ts';
import type { StoreContent } from './content.ts';
import { createErasures } from './erasure.ts';
import type { Affected, EraseBy, EraseRequest, FlushEvent, FlushRequest, PurgedPages, QueryPages } from './flush.ts';
import { countInMemory, countInStore, countPurged, type PreviewOptions, previewFlush } from './preview.ts';

export interface FlushOptions extends PreviewOptions {
  readonly domain: string;
  readonly control: Pick<Control, 'document' | 'overlay' | 'change'>;
  /** The content of every store that is written, for erasures. Absent: `content`. */
  readonly erased?: StoreContent;
  /** A store with entries of the domain that an erasure in this process would miss, in words. */
  readonly missedStore?: () => string | undefined;
  /** Whether the store holds a name; undefined when the store did not answer. Absent without a store. */
  readonly holds?: (storeName: string) => Promise<boolean | undefined>;
  /** No other application uses the servers of the store. */
  readonly dedicated: boolean;
  /** The control document is kept in another store. */
  readonly controlElsewhere: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: FlushEvent) => void;
  /** Keys that an erasure removes per second, on each node. */
  readonly keysPerSecond?: number;
  /** Time until every process follows a change: two polls. */
  readonly followMs?: number;
}

/** Permanent flushes of one domain. A drill flushes by its overlay instead, which it removes at its end. */
export type Flush = ReturnType<typeof createFlush>;

export function createFlush(options: FlushOptions) {
  const { domain, control, content, clock, random, observe, keysPerSecond = 5000, followMs = 1000 } = options;
  const erasures = createErasures({ ...options, content: options.erased ?? content, keysPerSecond });

  /** The ranges of a request. @throws OperationError */
  const validRanges = (request: FlushRequest): readonly BucketRange[] => {
    const ranges = rangesOf(request, random);
    if (request.mode === 'erase') checkErase(request.by ?? 'unlink', ranges, options);
    checkIndexVersion(request);
    return ranges;
  };

  const withRaisedFloors = (
    document: ControlDocument,
    request: FlushRequest,
    ranges: readonly BucketRange[],
  ): ControlDocument => {
    refuseDuringDrill(document);
    if (request.mode !== 'refresh') return raiseFloors(document, ranges, clock.wallMs());
    return raiseFreshFloors(document, ranges, clock.wallMs(), request.indexVersion);
  };

  /**
   * A permanent flush would distort the figures of a drill, and the end of the drill would not restore the entries. An
   * overlay that has expired, as this process sees it, does not count.
   */
  const refuseDuringDrill = ({ overlay }: ControlDocument): void => {
    if (overlay === undefined) return;
    const isExpired = control.document().overlay?.drill === overlay.drill && control.overlay() === undefined;
    if (isExpired) return;
    const words = `drill ${overlay.drill} runs in ${domain}: abort it or wait for its end; a purge or a suppression is possible all the same`;
    throw new OperationError('drill-running', words);
  };

  const raise = async (request: FlushRequest, ranges: readonly BucketRange[]): Promise<Flushed> => {
    const { mode } = request;
    const memory = await countInMemory(ranges, options);
    const changed = await control.change((document) => withRaisedFloors(document, request, ranges));
    const { generation } = changed.after;
    observe({ kind: 'flushed', domain, mode, buckets: bucketsIn(ranges), generation });
    // The flush is done when the floor is raised; counting the store delays only the answer to the operator.
    return { ...changed, ranges, affected: { memory, store: await countInStore(mode, ranges, options) } };
  };

  return {
    /** The effects of the flush, without the flush. @throws OperationError */
    preview: async (request: FlushRequest) => previewFlush(request, validRanges(request), options),
    /**
     * Raises the floor of the ranges (`refresh`: the fresh floor) and, with `erase`, removes the entries below it. Resolves
     * when the floor is raised; the erasure goes on in the background, see `erasure`.
     * @throws OperationError: invalid-fraction, control-full, not-dedicated, drill-running, control-unavailable …
     */
    flush: async (request: FlushRequest) => {
      const ranges = validRanges(request);
      if (request.mode !== 'erase') return raise(request, ranges);
      const erase = { ranges, by: request.by ?? 'unlink' };
      return erasures.after(erase, followMs, () => raise(request, ranges));
    },
    /** Flushes every page of one query. @throws OperationError control-full, invalid-request */
    purge: async (query: QueryPages): Promise<Changed & { readonly affected: PurgedPages }> => {
      const { text } = query;
      checkText(text);
      const before = control.document().purges.find((one) => one.text === text);
      const affected = await countPurged(query, before?.generation ?? 0, options);
      const changed = await control.change((document) => purge(document, text, clock.wallMs()));
      observe({ kind: 'purged', domain, generation: changed.after.generation });
      return { ...changed, affected };
    },
    /** Hides documents from every page at once; `lifted`: shows them again. @throws OperationError control-full */
    suppress: async (ids: readonly string[], lifted = false) => {
      checkIds(ids);
      const changed = await control.change((document) =>
        lifted ? lift(document, ids) : suppress(document, ids, clock.wallMs()),
      );
      observe({ kind: 'suppressed', domain, ids: new Set(ids).size, lifted });
      return changed;
    },
    /** The latest erasure of this process, running or ended. */
    erasure: erasures.latest,
    /**
     * Physically removes the entries in the ranges (and on the nodes, when named). The floor must have been raised before.
     * For drills, and for `flush`. @throws OperationError not-dedicated
     */
    erase: async (request: EraseRequest, signal: AbortSignal) => {
      checkErase(request.by, request.ranges, options);
      return erasures.now(request, signal);
    },
    close: erasures.close,
  };
}

interface Flushed extends Changed {
  readonly ranges: readonly BucketRange[];
  readonly affected: Affected;
}

/** @throws OperationError no-store, also when a store would be missed; not-dedicated: it says what to declare or to request. */
function checkErase(by: EraseBy, ranges: readonly BucketRange[], options: FlushOptions): void {
  const { domain, content, dedicated, controlElsewhere, missedStore } = options;
  const missed = missedStore?.();
  if (missed !== undefined) throw new OperationError('no-store', `${missed}; nothing was erased`);
  if (by === 'unlink') return;
  const refuse = (words: string, parameter?: string): OperationError =>
    new OperationError(
      'not-dedicated',
      `${words}; or erase by unlink, which takes this domain’s keys alone`,
      parameter,
    );
  if (content === undefined) {
    throw new OperationError('no-store', `${domain} has no store, so it has no node to empty`, 'by');
  }
  if (!dedicated) {
    throw refuse(
      `flushall empties whole nodes, which the store of ${domain} is not declared for: set dedicated: true in its configuration when nothing else lives there`,
      'by',
    );
  }
  if (!controlElsewhere) {
    throw refuse(
      `flushall would remove the control document of ${domain}, which is kept in the same store: declare a control store of its own (control:)`,
      'by',
    );
  }
  if (bucketsIn(ranges) !== BUCKETS) {
    throw refuse('flushall takes everything on a node: the fraction must be 1', 'fraction');
  }
}

/** @throws OperationError invalid-request */
function checkIds(ids: readonly string[]): void {
  const wrong = ids.find((id) => !isDocumentId(id));
  if (wrong !== undefined) {
    const has = `one of them has ${Buffer.byteLength(wrong)}, or a NUL or half a character`;
    throw invalid(`an id is a text of 1 to ${MAX_ID_BYTES} bytes in UTF-8; ${has}`, 'ids');
  }
}

/** @throws OperationError invalid-request */
function checkText(text: string): void {
  if (text.trim() === '') throw invalid('a purge names the text of a query; it is empty', 'q');
}

/** @throws OperationError invalid-request */
function checkIndexVersion({ mode, indexVersion }: FlushRequest): void {
  if (indexVersion === undefined) return;
  if (mode !== 'refresh') throw invalid(`indexVersion goes with refresh, not with ${mode}`, 'indexVersion');
  if (!indexVersion.isWellFormed()) throw invalid('indexVersion has 1 to 128 characters', 'indexVersion');
}

function invalid(words: string, parameter: string): OperationError {
  return new OperationError('invalid-request', words, parameter);
}

/** 0.07 × 10 000 is slightly more than 700 in floating point, and must not become 701 buckets. */
const ROUNDING = 1e-6;

/**
 * The share of all buckets, rounded up, in rising order: one range, or two when it continues past the last bucket. It begins
 * at `from`, or at random, so that not every rehearsal loses the same keys.
 */
export function rangesOf(
  { fraction, from }: { readonly fraction: number; readonly from?: number },
  random: () => number,
): readonly BucketRange[] {
  const count = Math.max(1, Math.ceil(fraction * BUCKETS - ROUNDING));
  return arc(from ?? Math.floor(random() * BUCKETS), count);
}
