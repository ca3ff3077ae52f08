import type { MemoryTier } from '../cache/memory.ts';
import type { Clock } from '../clock.ts';
import type { Changed, Control } from '../control/control.ts';
import type { BucketRange, ControlDocument } from '../control/document.ts';
import { purge } from '../control/purge.ts';
import { raiseFloors, raiseFreshFloors } from '../control/raise-floors.ts';
import { bucketsIn } from '../control/ranges.ts';
import { OperationRefused } from '../control/refusal.ts';
import { lift, suppress } from '../control/suppress.ts';
import type { Figures } from '../meter/reading.ts';
import { countInMemory, countInStore, countPurged } from './affected.ts';
import { checkErase } from './check-erase.ts';
import { checkIds, checkIndexVersion, checkText } from './check-words.ts';
import type { StoreContent } from './content.ts';
import { createErasures } from './erasures.ts';
import type { FlushEvent } from './events.ts';
import type { Flush, FlushAsk, FlushDone } from './flush.ts';
import { previewFlush } from './preview.ts';
import { rangesOf } from './ranges.ts';

export interface FlushOptions {
  readonly domain: string;
  readonly control: Pick<Control, 'document' | 'overlay' | 'change'>;
  /** Absent: the domain has no store, and all there is to flush is L1. */
  readonly content?: StoreContent;
  readonly memory: Pick<MemoryTier, 'keys' | 'peek'>;
  readonly bucketOf: (key: string) => number;
  /** Whether the store holds a name; undefined when it cannot be told. Absent as `content` is. */
  readonly holds?: (storeName: string) => Promise<boolean | undefined>;
  /** Nothing else lives on the servers of the store. */
  readonly dedicated: boolean;
  /** The control document is not kept in this store. */
  readonly controlElsewhere: boolean;
  /** What this process did in the last minute or so. */
  readonly recent: () => Figures | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: (event: FlushEvent) => void;
  /** Keys an erasure removes a second, of each node. */
  readonly keysPerSecond?: number;
  /** After so long every process follows a change: two polls. */
  readonly followMs?: number;
}

export function createFlush(options: FlushOptions): Flush {
  const { domain, control, content, dedicated, controlElsewhere, clock, random, observe } = options;
  const { keysPerSecond = 5000, followMs = 1000 } = options;
  const declared = { domain, hasStore: content !== undefined, dedicated, controlElsewhere };
  const erasures = createErasures({ ...options, keysPerSecond });

  /** @throws OperationRefused for whatever is wrong with it before anything is asked of anybody */
  const judge = (ask: FlushAsk): readonly BucketRange[] => {
    const ranges = rangesOf(ask, random);
    if (ask.mode === 'erase') checkErase(ask.by ?? 'unlink', ranges, declared);
    checkIndexVersion(ask);
    return ranges;
  };

  const raise = (document: ControlDocument, ask: FlushAsk, ranges: readonly BucketRange[]): ControlDocument => {
    refuseDuringDrill(document);
    switch (ask.mode) {
      case 'refresh':
        return raiseFreshFloors(document, ranges, clock.wallMs(), ask.indexVersion);
      case 'drop':
      case 'erase':
        return raiseFloors(document, ranges, clock.wallMs());
    }
  };

  /**
   * What is flushed for good during a drill would be lost in its figures, and its end would not bring it back. A drill
   * whose owner is gone, as this process sees it, is in nobody's way.
   */
  const refuseDuringDrill = ({ overlay }: ControlDocument): void => {
    if (overlay === undefined) return;
    const isVoid = control.document().overlay?.drill === overlay.drill && control.overlay() === undefined;
    if (isVoid) return;
    const words = `drill ${overlay.drill} runs in ${domain}: abort it or wait for its end; a purge or a suppression is possible all the same`;
    throw new OperationRefused('drill-running', words);
  };

  const raiseAll = async (ask: FlushAsk, ranges: readonly BucketRange[]): ReturnType<Flush['flush']> => {
    const memory = await countInMemory(ranges, options);
    const changed = await control.change((document) => raise(document, ask, ranges));
    const { generation } = changed.after;
    observe({ kind: 'flushed', domain, mode: ask.mode, buckets: bucketsIn(ranges), generation });
    // The floor is up: what the store still holds is flushed, and counting it delays nobody but the operator.
    return { ...changed, ranges, affected: { memory, store: await countInStore(ask.mode, ranges, options) } };
  };

  const everywhere = (changed: Changed): FlushDone => ({ ...changed, ranges: [] });

  return {
    preview: async (ask) => previewFlush(ask, judge(ask), options),
    flush: async (ask) => {
      const ranges = judge(ask);
      if (ask.mode !== 'erase') return raiseAll(ask, ranges);
      const erase = { ranges, by: ask.by ?? 'unlink' };
      return erasures.after(erase, followMs, () => raiseAll(ask, ranges));
    },
    purge: async (query) => {
      const { text } = query;
      checkText(text);
      const before = control.document().purges.find((one) => one.text === text);
      const affected = await countPurged(query, before?.generation ?? 0, options);
      const changed = await control.change((document) => purge(document, text, clock.wallMs()));
      observe({ kind: 'purged', domain, generation: changed.after.generation });
      return { ...everywhere(changed), affected };
    },
    suppress: async (ids, lifted = false) => {
      checkIds(ids);
      const changed = await control.change((document) =>
        lifted ? lift(document, ids) : suppress(document, ids, clock.wallMs()),
      );
      observe({ kind: 'suppressed', domain, ids: new Set(ids).size, lifted });
      return everywhere(changed);
    },
    erasure: erasures.latest,
    erase: async (ask, signal) => {
      checkErase(ask.by, ask.ranges, declared);
      return erasures.now(ask, signal);
    },
    close: erasures.close,
  };
}
