/** The result of one arrival at one process. */
export interface ArrivalResult {
  readonly hit: boolean;
  /** Whether the answer was a page. */
  readonly answered: boolean;
}

/**
 * Detects when two processes with the same arrivals perform alike again: in the last `window` arrivals that both have
 * answered, the subject answered every one with a page and its hit ratio is within `points` of the control's. Each
 * arrival is compared with itself, so a search that misses in both does not count.
 */
export function createRecovery({ window, points }: { readonly window: number; readonly points: number }) {
  const pending = new Map<number, { readonly side: string; readonly result: ArrivalResult }>();
  const recent: { readonly difference: number; readonly refused: number }[] = [];
  let first: number | undefined;
  let recovered: number | undefined;
  let sum = 0;
  let refused = 0;

  return {
    add: (side: 'subject' | 'control', arrival: number, result: ArrivalResult): void => {
      if (first === undefined || arrival < first) return;
      const other = pending.get(arrival);
      if (other === undefined) {
        pending.set(arrival, { side, result });
        return;
      }
      pending.delete(arrival);
      const [subject, control] = side === 'subject' ? [result, other.result] : [other.result, result];
      const entry = { difference: Number(control.hit) - Number(subject.hit), refused: Number(!subject.answered) };
      recent.push(entry);
      const dropped = recent.length > window ? recent.shift() : undefined;
      sum += entry.difference - (dropped?.difference ?? 0);
      refused += entry.refused - (dropped?.refused ?? 0);
      const isGood = recent.length === window && sum / window <= points && refused === 0;
      if (isGood) recovered ??= arrival;
    },
    /** Counts arrivals from this one on. */
    begin: (arrival: number): void => {
      first = arrival;
      recovered = undefined;
      pending.clear();
      recent.length = 0;
      sum = 0;
      refused = 0;
    },
    /** The first arrival since `begin` at which the condition held. */
    recoveredAt: (): number | undefined => recovered,
  };
}
