import { cacheStatus } from '../../http/search-api/response-headers.ts';
import { createRecent } from '../../http/transport/recent.ts';
import type { Answer } from '../../search/answer.ts';
import { type AnswerBody, answerFrom } from './assets/view/model.mjs';
import { type Provenance, provenanceOf } from './assets/view/provenance.mjs';

/** Of inflated pages whose parsed form is remembered. */
const MAX_READ_BYTES = 2 * 2 ** 20;
const read = createRecent<Buffer, AnswerBody>(MAX_READ_BYTES);

/** The page inside an answer's inflated body: for a while one object for one buffer. @throws SyntaxError when it is no JSON. */
export function readBody(identity: Buffer): AnswerBody {
  const known = read.get(identity);
  if (known !== undefined) return known;
  const body = answerFrom(JSON.parse(identity.toString('utf8')));
  read.set(identity, body, identity.length);
  return body;
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
