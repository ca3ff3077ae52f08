import { BUCKETS } from '../cache/rules.ts';
import type { BucketRange } from '../control/document.ts';
import { bucketsIn } from '../control/ranges.ts';
import { OperationRefused } from '../control/refusal.ts';
import type { EraseBy } from './flush.ts';

export interface StoreDeclared {
  readonly domain: string;
  readonly hasStore: boolean;
  /** Nothing else lives on these servers. */
  readonly dedicated: boolean;
  /** The control document is not kept in this store. */
  readonly controlElsewhere: boolean;
}

/** @throws OperationRefused no-store, not-dedicated: what would have to be declared, or asked, for it. */
export function checkErase(by: EraseBy, ranges: readonly BucketRange[], declared: StoreDeclared): void {
  if (by === 'unlink') return;
  const { domain, hasStore, dedicated, controlElsewhere } = declared;
  const refuse = (words: string, parameter?: string): OperationRefused =>
    new OperationRefused(
      'not-dedicated',
      `${words}; or erase by unlink, which takes this domain’s keys alone`,
      parameter,
    );
  if (!hasStore) {
    throw new OperationRefused('no-store', `${domain} has no store, so it has no node to empty`, 'by');
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
