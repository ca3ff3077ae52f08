import type { RequestEvent } from '../../http/events.ts';
import type { Admission } from '../../http/search-api/admission.ts';
import type { IdentityBodies } from '../../http/transport/content-coding.ts';
import type { Clock } from '../../runtime.ts';
import type { Search } from '../../search/search.ts';
import type { Example } from './assets/address.mjs';

export interface PageOptions {
  readonly search: Search;
  readonly door: Pick<Admission, 'search' | 'admitPage'>;
  /** Shared with `/search`, so that a page that was read once is inflated once. */
  readonly identityBodies: IdentityBodies;
  readonly clock: Clock;
  /** 0–1. Spreads Retry-After, so that refused readers do not retry together. */
  readonly random: () => number;
  readonly maxUrlBytes: number;
  /** Called once for each search that the server makes for a page. */
  readonly observe?: (event: RequestEvent) => void;
  /** Searches offered on the empty page. */
  readonly examples?: readonly Example[];
  /** Address of the admin listener's explain, where readers of this page may open it. */
  readonly explainUrl?: string;
}
