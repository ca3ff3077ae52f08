import type { Static } from 'typebox';
import type { Answer } from '../search/answer.ts';
import type { Outcome } from '../search/outcome.ts';
import type { SearchParameters } from '../search/parameters.ts';
import { cacheStatus } from './cache-status.ts';
import { freshnessFields } from './freshness.ts';
import { PROBLEMS, type Problem, problemDocument, Refusal } from './problem.ts';
import { MAX_PAIRS } from './query-string.ts';
import type { BatchSearch } from './schema.ts';

/** One item of a batch → the name/value pairs its URL would have had. @throws Refusal when there are too many. */
export function pairsOf(item: Static<typeof BatchSearch>): SearchParameters['pairs'] {
  const pairs = Object.entries(item).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value];
    return values.filter((each) => each !== undefined).map((each): readonly [string, string] => [name, String(each)]);
  });
  if (pairs.length <= MAX_PAIRS) return pairs;
  throw new Refusal({ code: 'invalid-body', detail: `A search may carry at most ${MAX_PAIRS} parameters.` });
}

/**
 * An answered item: its facts, then the stored page spliced in as the bytes it is, never parsed.
 * `{"status":200,"outcome":"hit-l2","cacheStatus":"…","etag":"…","age":0,"body":{…}}`
 */
export function answeredItem(answer: Answer, identity: Buffer, clientMaxAgeMs: number): readonly Buffer[] {
  const facts = JSON.stringify({
    status: 200,
    outcome: answer.outcome,
    cacheStatus: cacheStatus(answer),
    ...(answer.reason === undefined ? {} : { reason: answer.reason }),
    etag: `"${answer.entry.etag}"`,
    age: freshnessFields(answer, clientMaxAgeMs).age,
  });
  return [Buffer.from(`${facts.slice(0, -1)},"body":`), identity, Buffer.from('}')];
}

export function refusedItem(problem: Problem, outcome: Outcome): readonly Buffer[] {
  const { status } = PROBLEMS[problem.code];
  return [Buffer.from(JSON.stringify({ status, outcome, problem: problemDocument(problem) }))];
}

/** `{"results":[…]}` */
export function batchBody(items: readonly (readonly Buffer[])[]): Buffer {
  const parts = items.flatMap((item, i) => (i === 0 ? item : [Buffer.from(','), ...item]));
  return Buffer.concat([Buffer.from('{"results":['), ...parts, Buffer.from(']}')]);
}
