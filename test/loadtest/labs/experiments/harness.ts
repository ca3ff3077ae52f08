import assert from 'node:assert/strict';
import { holds } from '../../../../loadtest/labs/kit/claims.ts';
import type { Finding } from '../../../../loadtest/labs/kit/finding.ts';
import { coresOf } from '../../../../loadtest/labs/kit/lab.ts';

export type Found = Omit<Finding, 'name'>;

/** The figure of a claim, and whether it holds. */
export function claimOf({ claims }: Found, text: RegExp): readonly [number | undefined, boolean | undefined] {
  const claim = claims.find((one) => text.test(one.text));
  assert.ok(claim, String(text));
  return [claim.figure, holds(claim)];
}

export function figureOf(found: Found, text: RegExp): number | undefined {
  return claimOf(found, text)[0];
}

/** For tests with real stores. */
export const LAB = { cores: coresOf('0-1'), say: () => undefined, signal: new AbortController().signal };
