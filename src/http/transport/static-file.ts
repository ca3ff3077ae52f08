import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_SYNC_BYTES, notModified, type OwnCoding, ownCoding, TAG_SUFFIX } from './content-coding.ts';

export type StaticFile = ReturnType<typeof staticFile>;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** `once`: a file of quality 9 is at most a tenth larger than one of quality 11, and takes an eighth of its time. */
const BROTLI_QUALITY = { once: 9, each: 4 } as const;
const GZIP_LEVEL = { once: 9, each: 3 } as const;
/** The order for a page that is made for one request: gzip makes it as small as brotli does, in a third of the time. */
const EACH: readonly OwnCoding[] = ['gzip', 'br', 'identity'];

/** A shorter body is sent uncompressed: it fits into one packet. */
const MIN_COMPRESSED_BYTES = 1000;

/** A file that is the same for every client while the process runs. */
export function staticFile(content: string | Buffer, type: string) {
  const body = Buffer.from(content);
  const made = new Map<OwnCoding, Promise<Buffer>>([['identity', Promise.resolve(body)]]);
  return {
    type,
    /** Without quotes and without the suffix of the coding. */
    etag: hash('sha256', body, 'base64url').slice(0, 16),
    bytes: body.length,
    /** Compressed at the first request, once per coding: a listener without visitors compresses nothing. */
    in: (coding: OwnCoding): Promise<Buffer> => {
      const known = made.get(coding);
      if (known !== undefined) return known;
      const making = compress(body, coding, 'once');
      made.set(coding, making);
      return making;
    },
  };
}

interface FileRoute {
  readonly type: string;
  /** Called once, at the first request. */
  readonly content: () => string | Buffer;
  readonly fields: Readonly<Record<string, string>>;
}

/** `GET|HEAD <url>` answers with one file. The route is not in the OpenAPI description. */
export function registerFile(app: FastifyInstance, url: string, { type, content, fields }: FileRoute): void {
  let file: StaticFile | undefined;
  app.route({
    method: ['GET', 'HEAD'],
    url,
    schema: { hide: true },
    handler: (request, reply) => {
      file ??= staticFile(content(), type);
      return sendStatic(request, reply.headers(fields), file);
    },
  });
}

/** Sends a file in the coding that the client prefers, or 304 when the client has it already. @throws Refusal `precondition-failed`. */
export async function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
): Promise<FastifyReply> {
  const coding = codingFor(request, file.bytes);
  const tag = `${file.etag}${TAG_SUFFIX[coding]}`;
  const isKnown = notModified(request.headers, tag);
  reply.headers({ etag: `"${tag}"`, vary: 'Accept-Encoding' });
  if (isKnown) return reply.code(304).send();
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return reply.header('content-type', file.type).send(await file.in(coding));
}

/** Sends a text that was made for this request. The caller sets `Content-Type` and `Vary`. */
export async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string | Buffer,
): Promise<FastifyReply> {
  const body = typeof text === 'string' ? Buffer.from(text) : text;
  const coding = codingFor(request, body.length, EACH);
  if (coding !== 'identity') reply.header('content-encoding', coding);
  if (coding === 'gzip' && body.length <= MAX_SYNC_BYTES) {
    return reply.send(gzipSync(body, { level: GZIP_LEVEL.each }));
  }
  return reply.send(await compress(body, coding, 'each'));
}

function codingFor({ headers }: FastifyRequest, bytes: number, codings?: readonly OwnCoding[]): OwnCoding {
  return ownCoding(headers['accept-encoding'], codings, bytes >= MIN_COMPRESSED_BYTES);
}

/** Runs on the thread pool. */
async function compress(body: Buffer, coding: OwnCoding, effort: keyof typeof BROTLI_QUALITY): Promise<Buffer> {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  switch (coding) {
    case 'identity':
      return body;
    case 'gzip':
      return gzipAsync(body, { level: GZIP_LEVEL[effort] });
    case 'br':
      return brotliAsync(body, {
        params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[effort], [BROTLI_PARAM_SIZE_HINT]: body.length },
      });
  }
}

/** A `Content-Security-Policy` that allows only the named sources. */
export function contentPolicy(allowed: Readonly<Record<string, string>>): string {
  const closed = ['form-action', 'base-uri', 'frame-ancestors'].filter((directive) => !(directive in allowed));
  const whole = [['default-src', "'none'"], ...Object.entries(allowed), ...closed.map((each) => [each, "'none'"])];
  return whole.map((directive) => directive.join(' ').trim()).join('; ');
}

/** Scripts, styles, images and requests of the own origin, nothing inline. */
export const OWN_FILES = {
  'script-src': "'self'",
  'style-src': "'self'",
  'connect-src': "'self'",
  'img-src': "'self'",
};

/** For a document with inline styles that loads nothing. */
export const INLINE_STYLES = { 'style-src': "'unsafe-inline'", 'img-src': 'data:' };

/** Header fields of an HTML document, in addition to those of every answer. */
export function documentFields(policy: string) {
  const fields = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
  };
  // Browsers refuse a sandboxed document that has an opener policy.
  return policy.includes('sandbox') ? fields : { ...fields, 'cross-origin-opener-policy': 'same-origin' };
}

/** The sandbox gives a report a separate origin. */
const REPORT_FIELDS = documentFields(contentPolicy({ ...INLINE_STYLES, sandbox: '' }));

/** Sends a report: one page that loads nothing. */
export function sendReport(request: FastifyRequest, reply: FastifyReply, page: string): Promise<FastifyReply> {
  return sendCompressed(request, reply.headers({ ...REPORT_FIELDS, vary: 'Accept-Encoding' }), page);
}
