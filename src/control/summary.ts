import { BUCKETS } from '../cache/rules.ts';
import type { Control, ControlState } from './control.ts';
import { bucketsIn } from './ranges.ts';

/** A control document in a few figures: for the console, for metrics, for /admin/domains. */
export interface ControlSummary {
  readonly revision: number;
  readonly generation: number;
  readonly heardMsAgo: number;
  readonly shared: boolean;
  readonly standing: ControlState['standing'];
  readonly halted: boolean;
  readonly suppressed: number;
  readonly purges: number;
  readonly ranges: number;
  /** Of a live drill. `flushed`: 0–1, the share of the keys it has taken away. */
  readonly drill?: {
    readonly id: string;
    readonly owner: string;
    readonly flushed: number;
    readonly blackout: boolean;
  };
}

export function summaryOf(control: Pick<Control, 'document' | 'overlay' | 'state'>): ControlSummary {
  const { halted, suppressed, purges, ranges } = control.document();
  const overlay = control.overlay();
  return {
    ...control.state(),
    halted: halted !== undefined,
    suppressed: suppressed.length,
    purges: purges.length,
    ranges: ranges.length,
    ...(overlay === undefined
      ? {}
      : {
          drill: {
            id: overlay.drill,
            owner: overlay.owner,
            flushed: bucketsIn(overlay.ranges) / BUCKETS,
            blackout: overlay.blackout,
          },
        }),
  };
}
