interface Guard {
  readonly figure: string;
  readonly max: number;
}

/** Of a plan, what says when it ends too early. */
export interface Guarded {
  readonly guards: readonly Guard[];
}

/**
 * The same plan, with more refused than on a day on which nobody looks: what becomes of those who are refused is what is
 * measured here. Everything else that guards watch ends it as ever, errors first of all.
 */
export function withSheds<Plan extends Guarded>(plan: Plan, maxShed: number): Plan {
  const guards = plan.guards.map((guard) =>
    guard.figure === 'shedRate' ? { ...guard, max: Math.max(guard.max, maxShed) } : guard,
  );
  return { ...plan, guards };
}
