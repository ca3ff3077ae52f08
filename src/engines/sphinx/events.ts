/** What the adapter says happened, once; metrics, logs and tests read it. `target` is `host:port/index`. */
export type SphinxEvent =
  | {
      readonly kind: 'connection';
      readonly target: string;
      /** `discarded`: given up with a query on it, which searchd goes on with. `failed`: never opened. */
      readonly state: 'open' | 'closed' | 'failed' | 'discarded';
      readonly detail?: string;
    }
  | {
      readonly kind: 'retry';
      readonly target: string;
      /** `spent`: the budget allowed none. */
      readonly result: 'whole' | 'partial' | 'failed' | 'spent';
      readonly detail: string;
    }
  | { readonly kind: 'relaxed'; readonly target: string; readonly found: boolean };
