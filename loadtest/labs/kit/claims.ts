import type { Claim, Finding, Verdict } from './finding.ts';
import { valueText } from './text.ts';

/** Undefined: the claim has no bound, or its figure could not be measured. */
export function holds({ figure, atLeast, atMost }: Claim): boolean | undefined {
  if (figure === undefined || Number.isNaN(figure) || (atLeast === undefined && atMost === undefined)) return undefined;
  return figure >= (atLeast ?? Number.NEGATIVE_INFINITY) && figure <= (atMost ?? Number.POSITIVE_INFINITY);
}

/**
 * `yes`: every claim with a figure holds; `partly`: some hold; `unseen`: no claim has a figure. A required claim overrules
 * the others.
 */
export function verdictOf(claims: readonly Claim[]): Verdict {
  const bounded = claims.filter(({ atLeast, atMost }) => atLeast !== undefined || atMost !== undefined);
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

/** Rows of the table of claims: text, figure, bound (`≥ 1.5 ×`), and whether it holds. */
export function claimCells({ claims }: Pick<Finding, 'claims'>): readonly (readonly string[])[] {
  return claims.map((claim) => {
    const { text, figure, unit, atLeast, atMost } = claim;
    const bounds = [
      ...(atLeast === undefined ? [] : [`≥ ${valueText(atLeast, unit)}`]),
      ...(atMost === undefined ? [] : [`≤ ${valueText(atMost, unit)}`]),
    ];
    const isHeld = holds(claim);
    const answer = isHeld === undefined ? 'not seen' : isHeld ? 'yes' : 'no';
    return [text, valueText(figure, unit), bounds.join(', '), bounds.length === 0 ? '' : answer];
  });
}

/** Undefined: the figure of a claim could not be measured. */
export function allHold(claims: readonly Claim[]): boolean | undefined {
  const all = claims.map(holds);
  return all.includes(undefined) ? undefined : !all.includes(false);
}
