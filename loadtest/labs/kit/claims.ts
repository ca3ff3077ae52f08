import type { Claim, Finding, Verdict } from './finding.ts';
import type { Cells } from './table.ts';
import { exactText, valueText } from './text.ts';

export function isBounded({ atLeast, atMost }: Claim): boolean {
  return atLeast !== undefined || atMost !== undefined;
}

/** Undefined: the claim has no bound, or its figure could not be measured. */
export function holds(claim: Claim): boolean | undefined {
  const { figure, atLeast, atMost } = claim;
  if (figure === undefined || Number.isNaN(figure) || !isBounded(claim)) return undefined;
  return figure >= (atLeast ?? Number.NEGATIVE_INFINITY) && figure <= (atMost ?? Number.POSITIVE_INFINITY);
}

/**
 * `yes`: every claim with a figure holds; `partly`: some hold; `unseen`: no claim has a figure. A required claim overrules
 * the others.
 */
export function verdictOf(claims: readonly Claim[]): Verdict {
  const bounded = claims.filter(isBounded);
  const required = bounded.filter(({ isRequired }) => isRequired).map(holds);
  if (required.includes(false)) return 'no';
  if (required.includes(undefined)) return 'unseen';
  const seen = bounded.map(holds).filter((one) => one !== undefined);
  if (seen.length === 0) return 'unseen';
  if (seen.every((one) => one)) return 'yes';
  return seen.includes(true) ? 'partly' : 'no';
}

export const VERDICT_TEXT: Readonly<Record<Verdict, string>> = {
  yes: 'yes',
  partly: 'in part',
  no: 'no',
  unseen: 'not seen',
};

/** `Holds here: in part`, or `Holds: yes` where nothing was published beforehand. */
export function verdictText({ verdict, published }: Pick<Finding, 'verdict' | 'published'>): string {
  return `Holds${published === '' ? '' : ' here'}: ${VERDICT_TEXT[verdict]}`;
}

/** The table of claims: text, figure, bound (`≥ 1.5 ×`), and whether it holds. */
export function claimCells({ claims }: Pick<Finding, 'claims'>): Cells {
  const rows = claims.map((claim) => {
    const { text, figure, unit, atLeast, atMost } = claim;
    const isHeld = holds(claim);
    const missed = isHeld === false ? missedByLittle(claim) : undefined;
    const show = missed === undefined ? valueText : exactText;
    const bounds = [
      ...(atLeast === undefined ? [] : [`≥ ${show(atLeast, unit)}`]),
      ...(atMost === undefined ? [] : [`≤ ${show(atMost, unit)}`]),
    ];
    const answer = isHeld === undefined ? 'not seen' : isHeld ? 'yes' : 'no';
    return [text, show(missed ?? figure, unit), bounds.join(', '), bounds.length === 0 ? '' : answer];
  });
  return { titles: ['', 'figure', 'bound', 'holds'], rows, isFigure: [false, true, false, false] };
}

/** Undefined unless the usual text of the figure is that of a bound. @returns the figure with digits that show its failure. */
function missedByLittle(claim: Claim): number | undefined {
  const { figure, unit, atLeast, atMost } = claim;
  const isLike = (bound: number | undefined) =>
    bound !== undefined && valueText(bound, unit) === valueText(figure, unit);
  if (figure === undefined || !(isLike(atLeast) || isLike(atMost))) return undefined;
  for (let digits = 3; digits < 15; digits += 1) {
    const rounded = Number(figure.toPrecision(digits));
    if (holds({ ...claim, figure: rounded }) === false) return rounded;
  }
  return figure;
}

/** The number of published effects that hold, and of those that could be seen. The claims of an effect hold together. */
export function countEffects(effects: readonly (readonly Claim[])[]) {
  const seen = effects.map((claims) => claims.map(holds)).filter((all) => !all.includes(undefined));
  return { seen: seen.length, held: seen.filter((all) => !all.includes(false)).length };
}

/** The claim that all effects could be seen: one that could not leaves the statement confirmed in part at most. */
export function seenClaim(effects: readonly (readonly Claim[])[]): Claim {
  const text = `published effects that could be seen, of ${effects.length}`;
  return { text, figure: countEffects(effects).seen, unit: 'count', atLeast: effects.length };
}
