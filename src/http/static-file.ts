import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { matchesEntityTag } from './entity-tag.ts';
import { type OwnCoding, ownCoding } from './negotiate.ts';

/** Bytes that are the same for every client while the process lives. */
export interface StaticFile {
  readonly type: string;
  /** Without quotes and coding suffix. */
  readonly etag: string;
  readonly bytes: number;
  /** Compressed when it is first asked for, once per coding: a listener that nobody visits compresses nothing. */
  readonly in: (coding: OwnCoding) => Promise<Buffer>;
}

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** 9 is within a tenth of the size of 11, in an eighth of its time. A page that is made for one request has no time. */
const BROTLI_QUALITY = { once: 9, each: 4 } as const;

/** Shorter bodies are sent as they are: one packet holds them. */
const MIN_COMPRESSED_BYTES = 1000;

export function staticFile(content: string | Buffer, type: string): StaticFile {
  const body = Buffer.from(content);
  const made = new Map<OwnCoding, Promise<Buffer>>([['identity', Promise.resolve(body)]]);
  return {
    type,
    etag: hash('sha256', body, 'base64url').slice(0, 16),
    bytes: body.length,
    in: (coding) => {
      const known = made.get(coding);
      if (known !== undefined) return known;
      const making = compress(body, coding, 'once');
      made.set(coding, making);
      return making;
    },
  };
}

export interface FileRoute {
  readonly type: string;
  /** Asked once, at the first request. */
  readonly content: () => string | Buffer;
  readonly fields: Readonly<Record<string, string>>;
}

/** `GET|HEAD <url>` answers with one file, which no description names. */
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

/** Sends a file in the coding that the client prefers, or 304 when it holds the file already. */
export async function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
): Promise<FastifyReply> {
  const coding = codingFor(request, file.bytes);
  reply.headers({ etag: `"${file.etag}${SUFFIX[coding]}"`, vary: 'Accept-Encoding' });
  if (matchesEntityTag(request.headers['if-none-match'], file.etag)) return reply.code(304).send();
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return reply.header('content-type', file.type).send(await file.in(coding));
}

/** Sends a text that was made for this request alone. The caller sets its type and its `Vary`. */
export async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<FastifyReply> {
  const body = Buffer.from(text);
  const coding = codingFor(request, body.length);
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return reply.send(await compress(body, coding, 'each'));
}

function codingFor({ headers }: FastifyRequest, bytes: number): OwnCoding {
  return bytes < MIN_COMPRESSED_BYTES ? 'identity' : ownCoding(headers['accept-encoding']);
}

const SUFFIX: Readonly<Record<OwnCoding, string>> = { identity: '', gzip: '-gz', br: '-br' };

/** On the thread pool. */
async function compress(body: Buffer, coding: OwnCoding, effort: keyof typeof BROTLI_QUALITY): Promise<Buffer> {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  switch (coding) {
    case 'identity':
      return body;
    case 'gzip':
      return gzipAsync(body, { level: effort === 'once' ? 9 : 6 });
    case 'br':
      return brotliAsync(body, {
        params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[effort], [BROTLI_PARAM_SIZE_HINT]: body.length },
      });
  }
}
