import { PageBody, ProblemBody } from './schema.ts';

/** What OpenAPI says of answers beside their bodies: their fields, and the problems every route may answer with. */

const text = (description: string) => ({ type: 'string', description });

const ANSWER_FIELDS = {
  ETag: text('Of the page in the coding served; send it back in `If-None-Match`.'),
  'Cache-Status': text('What each tier did (RFC 9211), such as `serpcache-l1; hit; ttl=287`.'),
  'Cache-Control': text('What caches downstream may do; `no-store` for a degraded page and a lifeboat answer.'),
  Age: {
    type: 'integer',
    description:
      'Seconds since the engine computed the page. `max-age` − `Age` is how long a cache downstream may keep it.',
  },
  Vary: text('`Accept-Encoding`, and the headers that are declared context of the domain.'),
};

export const PAGE_ANSWERS = {
  200: { ...PageBody, description: 'The page.', headers: ANSWER_FIELDS },
  304: { type: 'null', description: 'The client holds this page: `If-None-Match` names it.', headers: ANSWER_FIELDS },
};

const problemAnswer = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: ProblemBody } },
});

export const PROBLEM_ANSWERS = {
  '4xx': problemAnswer('The request is at fault; `parameter` says where.'),
  '5xx': problemAnswer('The service is at fault.'),
};

const RETRY = { 'Retry-After': { type: 'integer', description: 'Seconds until asking again may help.' } };

export const UNANSWERED_ANSWERS = {
  429: {
    ...problemAnswer('This client has had its share of the engine for now; pages in the cache are still served to it.'),
    headers: RETRY,
  },
  502: { ...problemAnswer('The engine refused the query.'), headers: RETRY },
  503: {
    ...problemAnswer('The engine is overloaded, recovering or cannot be reached, or the process is busy.'),
    headers: RETRY,
  },
  504: { ...problemAnswer('The engine did not answer in time.'), headers: RETRY },
};
