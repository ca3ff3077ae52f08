/** One run against one earlier run: nothing is said of what would come out another time. */
export interface Comparison {
  readonly now: string;
  readonly earlier: string;
  /** What was different between the two beside the service, the weightiest first: sentences. */
  readonly notes: readonly string[];
  /** Steps that both have, in the order of now. */
  readonly steps: readonly StepComparison[];
  readonly words: string;
}

export interface StepComparison {
  readonly name: string;
  /** Planned at the same rate, and run in both. */
  readonly isComparable: boolean;
  readonly figures: readonly FigureComparison[];
}

export interface FigureComparison {
  readonly name: string;
  readonly unit: 'perSecond' | 'ms' | 'share' | 'cores';
  readonly now?: number;
  readonly earlier?: number;
  /** Now ÷ earlier; undefined where one is unknown or the earlier is 0. */
  readonly ratio?: number;
}
