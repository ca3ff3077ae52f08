import { MIMEType } from 'node:util';
import type { FastifyRequest } from 'fastify';
import { type Problem, Refusal } from './problem.ts';

/**
 * Maximum number of members, elements and nested values of a body: twice the need of 50 searches with about 100 each.
 * This number determines the cost of parsing: 4 MiB of `[` hold the event loop for 390 ms, one string of 4 MiB for 2.
 */
export const MAX_VALUES = 10_000;

/** Called by `JSON.parse` for each value; `source` is the text of a scalar. */
export type Reviver = (name: string, value: unknown, context?: { readonly source?: string }) => unknown;

type Done = (error: Error | null, body?: unknown) => void;

/** Accepts JSON in UTF-8 (RFC 8259 §8.1) without a content coding. A body that is labelled otherwise is refused. */
export function parseJsonBody({ headers, routeOptions }: FastifyRequest, body: Buffer, done: Done): void {
  const problem = problemOfLabels(headers['content-type'], headers['content-encoding']);
  if (problem !== undefined) {
    done(new Refusal(problem));
    return;
  }
  if (hasMoreValues(body, MAX_VALUES)) {
    const detail = `The body may have at most ${MAX_VALUES} members, elements and nested values.`;
    done(new Refusal({ code: 'invalid-body', detail, headers: { connection: 'close' } }));
    return;
  }
  try {
    done(null, JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body), routeOptions.config.revive));
  } catch {
    done(Object.assign(new Error('not JSON'), { code: 'FST_ERR_CTP_INVALID_JSON_BODY', statusCode: 400 }));
  }
}

/** Counts commas and opening brackets outside strings. A body that is not JSON is left to the parser, which stops at once. */
export function hasMoreValues(body: Buffer, max: number): boolean {
  let values = 0;
  let isInString = false;
  for (let i = 0; i < body.length; i += 1) {
    const byte = body[i];
    if (isInString) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1;
      if (values > max) return true;
    }
  }
  return false;
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, OPEN_OBJECT] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

function problemOfLabels(type: string | undefined, encoding: string | undefined): Problem | undefined {
  const code = 'unsupported-media-type';
  const codings = (encoding ?? '').split(',').map((each) => each.trim().toLowerCase());
  if (!codings.every((each) => each === '' || each === 'identity')) {
    const detail = 'The body must be sent without a content coding.';
    return { code, detail, parameter: 'Content-Encoding', headers: { 'accept-encoding': 'identity' } };
  }
  if (isUtf8(type ?? '')) return undefined;
  const detail = 'The body must be sent in UTF-8.';
  return { code, detail, parameter: 'Content-Type', headers: { accept: 'application/json' } };
}

/** True without a charset, and for `utf8` and the other labels of UTF-8 in the Encoding Standard. */
function isUtf8(contentType: string): boolean {
  try {
    const charset = new MIMEType(contentType).params.get('charset');
    return charset === null || new TextDecoder(charset).encoding === 'utf-8';
  } catch {
    return false;
  }
}
