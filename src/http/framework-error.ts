import { type Problem, problemOf } from './problem.ts';

/**
 * Fastify's own refusals in our words. Anything it calls a client's fault that has no line of its own here is an
 * invalid request; everything else keeps its meaning or is a fault of ours.
 */
export function problemOfFramework(error: unknown, limits: { readonly maxBodyBytes: number }): Problem {
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown };
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return {
        code: 'body-too-large',
        detail: `A body may have at most ${limits.maxBodyBytes} bytes.`,
        headers: CLOSE,
      };
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return {
        code: 'unsupported-media-type',
        detail: 'The body must be sent as application/json.',
        parameter: 'Content-Type',
        headers: { accept: 'application/json', ...CLOSE },
      };
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return { code: 'invalid-body', detail: 'The body must be a JSON document in UTF-8.', headers: CLOSE };
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return { code: 'invalid-body', detail: 'The body is not as long as Content-Length says.', headers: CLOSE };
    case 'FST_ERR_BAD_URL':
      return { code: 'invalid-url', detail: 'The path is not percent-encoded UTF-8.' };
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return { code: 'url-too-long', detail: 'A part of the path is too long.' };
  }
  const problem = problemOf(error);
  if (problem.code === 'internal' && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return { code: 'invalid-request', detail: 'The request could not be read.', headers: CLOSE };
  }
  return problem;
}

/** What of the body was not read would otherwise be taken for the next request. */
const CLOSE = { connection: 'close' };
