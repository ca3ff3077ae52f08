import { MIMEType } from 'node:util';
import type { FastifyRequest } from 'fastify';
import { type Problem, Refusal } from './problem.ts';

type Done = (error: Error | null, body?: unknown) => void;

/** JSON travels as UTF-8 (RFC 8259 §8.1) and is not decompressed here: what is labelled otherwise is refused, not guessed. */
export function parseJsonBody({ headers }: FastifyRequest, body: Buffer, done: Done): void {
  const problem = problemOfLabels(headers['content-type'], headers['content-encoding']);
  if (problem !== undefined) {
    done(new Refusal(problem));
    return;
  }
  try {
    done(null, JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  } catch {
    done(Object.assign(new Error('not JSON'), { code: 'FST_ERR_CTP_INVALID_JSON_BODY', statusCode: 400 }));
  }
}

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

/** Without a charset it is; `utf8` and the other labels that everybody reads as UTF-8 are. */
function isUtf8(contentType: string): boolean {
  try {
    const charset = new MIMEType(contentType).params.get('charset');
    return charset === null || new TextDecoder(charset).encoding === 'utf-8';
  } catch {
    return false;
  }
}
