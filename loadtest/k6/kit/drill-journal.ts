/** Of a drill's journal, what its operator follows. */
export interface DrillJournal {
  readonly id: string;
  readonly reason: string;
  readonly state: { readonly kind: 'running' | 'ending' | 'over' };
  /** `atMs` since the drill began. */
  readonly marks: readonly {
    readonly kind: string;
    readonly atMs: number;
    readonly title?: string;
    readonly why?: string;
  }[];
  readonly verdict?: {
    readonly kind: 'passed' | 'failed' | 'not-measured' | 'refused' | 'aborted' | 'lost';
    readonly detail: string;
  };
}

/** Undefined when a body is none. */
export function journalOf(body: unknown): DrillJournal | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { id, reason, state, marks } = body as Partial<DrillJournal>;
  const isWhole = typeof id === 'string' && typeof reason === 'string' && typeof state?.kind === 'string';
  return isWhole && Array.isArray(marks) ? (body as DrillJournal) : undefined;
}
