import type { WarmUp } from './warm.ts';

/** What the warm room says happened, once; metrics, logs and tests read it. */
export type WarmEvent =
  | { readonly kind: 'warm-up-started'; readonly warmUp: WarmUp }
  /** `detail`: why it stopped by itself. */
  | { readonly kind: 'warm-up-ended'; readonly warmUp: WarmUp; readonly detail?: string };
