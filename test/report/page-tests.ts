import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNone } from '../pluck.ts';
import { markupFaults } from './well-formed.ts';

/** The visible text of a page, without tags. Spaces inside figures are no-break spaces, and become plain ones. */
export function textOf(page: string): string {
  const body = page.slice(page.indexOf('<body'));
  const spaced = body.replaceAll(/<\/(?:p|td|th|dt|dd|li|h1|h2|h3|h4|caption|text)>/g, ' ').replaceAll(/<[^>]*>/g, '');
  return spaced.replaceAll(/\s+/g, ' ').replaceAll('&#39;', "'");
}

/** @param foreign what would load something from elsewhere or run a script */
export function testPage(
  name: string,
  page: string,
  { maxBytes, foreign }: { maxBytes: number; foreign: RegExp },
): void {
  test(`${name}: is well-formed, and every reference points into the page`, () => {
    assert.deepEqual(markupFaults(page), []);
  });

  test(`${name}: loads nothing from elsewhere and runs no script`, () => {
    assert.doesNotMatch(page, foreign);
    const references = [...page.matchAll(/\s(?:href|src|action)="([^"]*)"/g)].map((match) => match[1] ?? '');
    assertNone(references, (one) => !one.startsWith('#') && one !== 'data:,');
  });

  test(`${name}: shows no NaN, no infinity and no undefined`, () => {
    const at = page.search(/NaN|Infinity|undefined|null|\[object/);
    assert.equal(at, -1, page.slice(Math.max(0, at - 80), at + 60));
  });

  test(`${name}: is small enough to be mailed`, () => {
    assert.ok(Buffer.byteLength(page) < maxBytes, `${Buffer.byteLength(page)} bytes`);
  });
}
