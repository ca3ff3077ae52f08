import { amountText } from '../../../src/report/format.ts';

/** Somebody always takes a little; more than a tenth of a core shows in the rows. */
const NOTICED_CORES = 0.1;

/** A sentence after another, when others had so much of the machine that figures have to be read with it; else ''. */
export function othersWords(cores: number | undefined): string {
  if (cores === undefined || cores <= NOTICED_CORES) return '';
  return ` Meanwhile others took ${amountText(cores)} of the machine's cores: rates are lower and times longer than on a quiet one.`;
}
