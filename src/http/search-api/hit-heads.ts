import type { Entry } from '../../cache/entry.ts';
import type { Answer } from '../../search/answer.ts';
import type { SharedHead } from '../lane/answer.ts';
import type { Form } from '../transport/content-coding.ts';
import { createWeakCache } from '../transport/weak-cache.ts';

/** The head of a hit out of memory, good until one of its seconds changes. */
interface HitHead extends SharedHead {
  /** Monotonic. */
  readonly untilMs: number;
}

/** @returns the fields of the answer, with an empty `x-request-id`. */
type Build = () => readonly string[];

/** The cost of one head: two dozen fields, and their bytes. An estimate, rather too high. */
const HEAD_BYTES = 2048;

/**
 * The heads of hits out of memory. All answers out of one entry in one form share one head for up to a second: until its
 * Age, its `max-age` or its `ttl` changes.
 */
export function createHitHeads(maxBytes: number) {
  const known = createWeakCache<Entry, (HitHead | undefined)[]>(maxBytes);

  return (answer: Answer, nowMs: number, form: Form, status: 200 | 304, build: Build): SharedHead => {
    const { entry } = answer;
    let heads = known.get(entry);
    if (heads === undefined) {
      heads = [undefined, undefined, undefined, undefined];
      known.set(entry, heads, HEAD_BYTES);
    }
    const at = (form === 'stored' ? 0 : 1) + (status === 304 ? 2 : 0);
    const head = heads[at];
    if (head !== undefined && nowMs < head.untilMs) return head;
    const fields = build();
    const intoSecondMs = (((nowMs - entry.bornMs) % 1000) + 1000) % 1000;
    const made: HitHead = {
      status,
      fields,
      ownAt: fields.indexOf('x-request-id') + 1,
      untilMs: nowMs + Math.min(1000 - intoSecondMs, answer.remainingMs % 1000),
    };
    heads[at] = made;
    return made;
  };
}
