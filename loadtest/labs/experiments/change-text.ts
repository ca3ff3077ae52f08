import { percentText } from '../../../src/report/format.ts';

/** Of a share of the time that was saved, what became of the time: `−33 %`, and `+19 %` where it takes longer. */
export function changeText(gain: number): string {
  return gain > 0 ? percentText(-gain) : `+${percentText(-gain)}`;
}
