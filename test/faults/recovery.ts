/** What one process made of one arrival. */
export interface ArrivalResult {
  readonly hit: boolean;
  /** Whether it gave a page at all. */
  readonly answered: boolean;
}

/**
 * When two processes fed the same arrivals are alike again: over the last `window` arrivals that both have ended, every
 * one got a page and the subject's hits are within `points` of the control's. Arrivals are compared in pairs, so that
 * what is hard for both counts for neither.
 */
export interface Recovery {
  readonly add: (who: 'subject' | 'control', arrival: number, half: ArrivalResult) => void;
  /** From here on arrivals count. */
  readonly begin: (arrival: number) => void;
  /** The arrival at which it was so for the first time since `begin`. */
  readonly recoveredAt: () => number | undefined;
  /** Control's share of hits minus the subject's, over the last window; undefined until there is one. */
  readonly gap: () => number | undefined;
}

export function createRecovery({ window, points }: { readonly window: number; readonly points: number }): Recovery {
  const halves = new Map<number, { readonly who: string; readonly half: ArrivalResult }>();
  const last: { readonly difference: number; readonly refused: number }[] = [];
  let first: number | undefined;
  let recovered: number | undefined;
  let sum = 0;
  let refused = 0;

  const gap = (): number | undefined => (last.length < window ? undefined : sum / window);
  return {
    add: (who, arrival, half) => {
      if (first === undefined || arrival < first) return;
      const other = halves.get(arrival);
      if (other === undefined) {
        halves.set(arrival, { who, half });
        return;
      }
      halves.delete(arrival);
      const [subject, control] = who === 'subject' ? [half, other.half] : [other.half, half];
      const pair = { difference: Number(control.hit) - Number(subject.hit), refused: Number(!subject.answered) };
      last.push(pair);
      const dropped = last.length > window ? last.shift() : undefined;
      sum += pair.difference - (dropped?.difference ?? 0);
      refused += pair.refused - (dropped?.refused ?? 0);
      const now = gap();
      if (recovered === undefined && now !== undefined && now <= points && refused === 0) recovered = arrival;
    },
    begin: (arrival) => {
      first = arrival;
      recovered = undefined;
      halves.clear();
      last.length = 0;
      sum = 0;
      refused = 0;
    },
    recoveredAt: () => recovered,
    gap,
  };
}
