import type { BucketRange } from '../control/document.ts';
import type { RequestEvent } from '../http/events.ts';
import type { SearchEvent } from '../search/events.ts';
import type { MeterReading } from './reading.ts';

/** Counts what one domain does in this process, by bucket as well, so that any cohort can be read afterwards. */
export interface Meter {
  readonly noteRequest: (event: RequestEvent) => void;
  readonly noteEngine: (event: Extract<SearchEvent, { kind: 'engine' }>) => void;
  /** @param cohorts each a set of ranges. */
  readonly read: (cohorts: readonly (readonly BucketRange[])[]) => MeterReading;
}
