import { decompress } from '../../cache/coding.ts';
import type { Answer } from '../../search/answer.ts';
import { cacheStatus } from '../cache-status.ts';
import type { AnswerBody } from './assets/view/model.mjs';
import { type Provenance, provenanceOf } from './assets/view/provenance.mjs';

/** A page of 100 results with long snippets is a few hundred kilobytes; nothing honest comes near. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** The page inside an answer. Rejects when the entry's body is not what its header says. */
export async function readBody({ entry }: Answer): Promise<AnswerBody> {
  const identity = await decompress(entry.body, entry.coding, MAX_BODY_BYTES);
  return JSON.parse(identity.toString('utf8'));
}

/** Through the words of the headers, so that the first page and the fetched ones cannot tell different stories. */
export function provenanceOfAnswer(answer: Answer, serverMs: number): Provenance {
  return provenanceOf(cacheStatus(answer), serverTiming(answer, serverMs));
}

/** `Server-Timing` of the search behind a page, in milliseconds, as `/search` writes it. */
function serverTiming({ outcome, timings }: Answer, totalMs: number): string {
  const engine = timings.engineMs === undefined ? '' : `, engine;dur=${timings.engineMs}`;
  return `cache;desc=${outcome}${engine}, total;dur=${totalMs}`;
}
