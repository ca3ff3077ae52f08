import type { Answer } from '../../search/answer.ts';
import { cacheStatus } from '../cache-status.ts';
import type { AnswerBody } from './assets/view/model.mjs';
import { answerFrom } from './assets/view/model.mjs';
import { type Provenance, provenanceOf } from './assets/view/provenance.mjs';

/** The page inside an answer's body, inflated. @throws SyntaxError when it is no JSON. */
export function readBody(identity: Buffer): AnswerBody {
  return answerFrom(JSON.parse(identity.toString('utf8')));
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
