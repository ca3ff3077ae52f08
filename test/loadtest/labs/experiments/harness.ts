import assert from 'node:assert/strict';
import type { Finding } from '../../../../loadtest/labs/kit/finding.ts';

export type Found = Omit<Finding, 'name'>;

/** The figure of the claim whose text matches. */
export function figureOf({ claims }: Found, text: RegExp): number | undefined {
  const claim = claims.find((one) => text.test(one.text));
  assert.ok(claim, `no claim ${text}`);
  return claim.figure;
}
