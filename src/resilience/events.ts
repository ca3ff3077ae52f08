/** What stands before every engine call says what it did. */
export type GuardEvent =
  | { readonly kind: 'breaker'; readonly target: string; readonly state: 'closed' | 'open' | 'half-open' }
  | {
      readonly kind: 'shed';
      readonly target: string;
      readonly why: 'breaker-open' | 'stalled' | 'queue-full' | 'queue-expired';
    }
  | { readonly kind: 'permit'; readonly target: string; readonly queuedMs: number }
  /** A connection was lost: another endpoint answered, failed too, or was not asked because the budget was spent. */
  | { readonly kind: 'retry'; readonly target: string; readonly result: 'answered' | 'failed' | 'spent' };
