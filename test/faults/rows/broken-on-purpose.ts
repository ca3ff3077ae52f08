import { setTimeout as sleep } from 'node:timers/promises';
import type { Felt } from '../felt.ts';
import { bodyIn, claiming, wrongPage } from '../planted.ts';
import type { Row } from '../row.ts';
import { rewriteEntries } from '../store-entries.ts';
import { TRIES } from '../tries.ts';
import { overwritten } from './store-values.ts';

/** Time in which wrong pages are served before the first try is given up. */
const SERVED_MS = 1500;

/**
 * A row that must be red: one byte of every stored page is another one, under a checksum that fits, so the subject serves
 * it. Its first try is given up in the middle and its second proves nothing, as on a bad day; neither may hide the wrong
 * answers, and the last try must not be taken for the whole row.
 */
export function brokenOnPurpose(): Row {
  let begun = 0;
  const which = (): number => (begun - 1) % TRIES;
  const felt: Felt = {
    watch: async (bed) => {
      const traceOf = await overwritten.watch(bed);
      return async () => (which() === 1 ? { felt: false, evidence: 'left out on purpose' } : traceOf());
    },
  };
  return {
    name: 'broken-on-purpose',
    says: 'one wrong byte in every stored page: red in each of three tries, of which two are invalid',
    begin: async (bed) => {
      begun += 1;
      await rewriteEntries(bed.store(), withWrongByte);
      if (which() !== 0) return;
      await sleep(SERVED_MS);
      throw new Error('given up on purpose');
    },
    felt,
  };
}

/** Pages without results stay. */
function withWrongByte(value: Buffer): Buffer | undefined {
  const body = wrongPage(bodyIn(value));
  return body === undefined ? undefined : claiming(value, { body });
}
