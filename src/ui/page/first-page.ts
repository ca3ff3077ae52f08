import type { FastifyRequest } from 'fastify';
import type { MissReason } from '../../cache/events.ts';
import { problemOf } from '../../http/problems.ts';
import { CLIENT_CLOSED, domainLabel, outcomeOf } from '../../http/search-api/exchange.ts';
import { problemResponse } from '../../http/transport/problem.ts';
import { headerReader } from '../../http/transport/request-target.ts';
import type { Outcome } from '../../search/events.ts';
import { provenanceOfAnswer, readBody } from './answer.ts';
import type { Failure, Shown } from './assets/view/model.mjs';
import { isStart, type Place, searchPairs } from './assets/view/place.mjs';
import type { Site } from './assets/view/site.mjs';
import type { PageOptions } from './options.ts';

export interface FirstPage {
  readonly shown: Shown;
  readonly status: number;
  readonly retryAfter?: string;
  /** Of the search; absent where there was none. */
  readonly durationMs?: number;
}

export interface Visit {
  readonly site: Site;
  readonly place: Place;
  readonly request: FastifyRequest;
}

/**
 * What the first page shows: the question its script would ask, asked in the process. A refusal is a page too; only a
 * fault of our own rejects.
 */
export async function firstPage({ site, place, request }: Visit, options: PageOptions): Promise<FirstPage> {
  if (isStart(place)) return { shown: { kind: 'start' }, status: 200 };
  const { search, door, identityBodies, clock, observe } = options;
  const pairs = searchPairs(place, site);
  const startedMs = clock.monotonicMs();
  const took = (): number => clock.monotonicMs() - startedMs;
  const end = (outcome: Outcome, status: number, reason?: MissReason): void => {
    const gone = request.raw.socket.destroyed;
    observe?.({
      kind: 'request',
      route: 'search',
      domain: domainLabel(search, pairs),
      outcome: gone ? 'aborted' : outcome,
      ...(reason === undefined ? {} : { reason }),
      status: gone ? CLIENT_CLOSED : status,
      durationMs: took(),
    });
  };
  try {
    door.admitPage();
    const prepared = search.prepare({ pairs, header: headerReader(request.headers) });
    const answer = search.fromMemory(prepared) ?? (await door.search({ prepared, request: request.raw }));
    // What the search took; inflating the body and making HTML of it is the page's own time.
    const durationMs = took();
    const body = readBody(await identityBodies.of(answer.entry));
    end(answer.outcome, 200, answer.reason);
    const shown = { kind: 'answer', answer: body, provenance: provenanceOfAnswer(answer, durationMs) } as const;
    return { shown, status: 200, durationMs };
  } catch (error) {
    const refused = refusedPage(error, options.random);
    end(outcomeOf(problemOf(error)), refused.status);
    if (problemOf(error).code === 'internal') throw error;
    return refused;
  }
}

/** Any refusal in the words and with the status and Retry-After that `/search` would give it. */
export function refusedPage(error: unknown, random: () => number): FirstPage {
  const problem = problemOf(error);
  const { status, headers } = problemResponse(problem, undefined, random);
  const retryAfter = headers['retry-after'];
  const shown: Failure = {
    kind: 'failure',
    code: problem.code,
    detail: problem.detail,
    ...(problem.parameter === undefined ? {} : { parameter: problem.parameter }),
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) }),
  };
  return { shown, status, ...(retryAfter === undefined ? {} : { retryAfter }) };
}
