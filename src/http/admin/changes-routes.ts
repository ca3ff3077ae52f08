import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { MAX_CHANGE_TEXT } from '../../changes/change.ts';
import { type FeedLine, TAKEN, type Taken } from '../../operations/feed/feed.ts';
import { oneOf } from '../../schema/fields.ts';
import { MAX_ID_BYTES } from '../../search/domain.ts';
import { hasMoreValues, MAX_VALUES } from '../transport/json-body.ts';
import { Refusal } from '../transport/problem.ts';
import { type AdminContext, adminRoutes, DomainQuery, queriedDomain, strict } from './input.ts';

const MAX_LINES = 10_000;
const MAX_BYTES = 8 * 2 ** 20;
const LIMITS = `A call may have at most ${MAX_LINES} lines and ${MAX_BYTES} bytes, unpacked. Send more in several calls.`;
/** Room for a text of a million letters, which is cut. */
const MAX_LINE_BYTES = 2 * 2 ** 20;
/** Bytes and lines after which a call yields to the event loop: hits of /search wait for each turn to end. */
const TURN_BYTES = 64 * 1024;
const LINE_BYTES = 256;

const LINES = `One JSON object a line. At most ${MAX_LINES} lines and 8 MiB a call; gzip is allowed. The content type is not looked at.`;

const Attributes = Type.Optional(
  Type.Object({}, { additionalProperties: true, description: 'Values by name: texts, numbers or lists of them.' }),
);
const Text = Type.Optional(
  Type.String({ description: `Title and description. Longer ones than ${MAX_CHANGE_TEXT} UTF-16 units are cut.` }),
);
const line = {
  id: Type.String({ minLength: 1, maxLength: MAX_ID_BYTES }),
  op: Type.Optional(oneOf(['upsert', 'delete'], 'Without it: `upsert`.')),
  attributes: Attributes,
};

const Was = Type.Object(
  { text: Text, attributes: Attributes },
  { ...strict, description: 'What was different before. Without `was.text` the text has not changed.' },
);
const ChangeLine = Type.Object(
  { ...line, text: Text, was: Type.Optional(Was) },
  { ...strict, description: `A line. ${LINES}` },
);

const DocumentLine = Type.Object(
  {
    ...line,
    title: Type.Optional(Type.String({ description: 'Required, but for a deletion.' })),
    description: Type.Optional(Type.String()),
  },
  {
    ...strict,
    description: `A line; attributes may also stand beside the texts. Members that the domain does not declare are left out. ${LINES}`,
  },
);

/**
 * Routes by which other programs tell what has changed. They are data at any rate and no decision of an operator, so calls with
 * the right token leave no line in the audit; metrics count the changes.
 */
export function registerChanges(app: FastifyInstance, { operations, audit }: AdminContext): void {
  app.register(async (routes) => {
    routes.removeAllContentTypeParsers();
    // curl sends a file as a form when nothing else is said.
    routes.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BYTES }, unpacked);
    const { post } = adminRoutes(routes, 'changes', audit);
    const shared = {
      consumes: ['application/x-ndjson'],
      audited: false,
      bodyLimit: MAX_BYTES,
      query: DomainQuery,
      status: 202,
      answer: TAKEN,
    } as const;

    post('/admin/changes', {
      ...shared,
      action: 'changes',
      summary: 'Tell which documents were added, changed or deleted',
      description: 'Answers when pages of this process are judged by the changes; the others follow within a second.',
      describedBody: ChangeLine,
      handle: async ({ query: { domain }, request }) =>
        someTaken(await queriedDomain(operations, domain).feed.changes(linesOf(request))),
    });

    post('/admin/documents', {
      ...shared,
      action: 'documents',
      summary: 'Add, replace and delete documents of the embedded index',
      description:
        'Answers when every search of this process sees them, and its older pages are judged by the changes.',
      describedBody: DocumentLine,
      handle: async ({ query: { domain }, request }) =>
        someTaken(await queriedDomain(operations, domain).feed.documents(linesOf(request))),
    });
  });
}

/** @throws Refusal with the first faults when no line was taken, but there were some */
function someTaken(answer: Taken): Taken {
  const { taken, refused, refusedCount } = answer;
  if (taken > 0 || refusedCount === 0) return answer;
  const faults = refused.slice(0, 3).map(({ line, detail }) => `line ${line}: ${detail}`);
  throw new Refusal({ code: 'invalid-body', detail: `No line was taken. ${faults.join('; ')}`, refused });
}

const inflate = promisify(gunzip);

async function unpacked({ headers }: FastifyRequest, body: Buffer): Promise<Buffer> {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return body;
  if (coding !== 'gzip' && coding !== 'x-gzip') {
    const [code, parameter] = ['unsupported-media-type', 'Content-Encoding'] as const;
    const accepted = { 'accept-encoding': 'gzip, identity' };
    throw new Refusal({ code, detail: 'The body must be sent plain or with gzip.', parameter, headers: accepted });
  }
  try {
    return await inflate(body, { maxOutputLength: MAX_BYTES });
  } catch (error) {
    const isTooLarge = error instanceof RangeError;
    const detail = 'The body is not packed with gzip, or damaged.';
    throw new Refusal(isTooLarge ? { code: 'body-too-large', detail: LIMITS } : { code: 'invalid-body', detail });
  }
}

/** The lines of a body; every line counts, empty ones too. @throws Refusal for too many */
async function* linesOf({ body }: FastifyRequest): AsyncGenerator<FeedLine, void, undefined> {
  if (!Buffer.isBuffer(body)) return;
  let spent = 0;
  let line = 0;
  for (let start = 0; start < body.length; ) {
    const found = body.indexOf(0x0a, start);
    const end = found < 0 ? body.length : found;
    line += 1;
    if (line > MAX_LINES) throw new Refusal({ code: 'body-too-large', detail: LIMITS });
    const bytes = body.subarray(start, end);
    start = end + 1;
    const fault = faultOf(bytes);
    yield fault === undefined ? { line, bytes } : { line, fault };
    spent += bytes.length + LINE_BYTES;
    if (spent < TURN_BYTES) continue;
    spent = 0;
    await nextTurn();
  }
}

function faultOf(bytes: Buffer): string | undefined {
  if (bytes.length > MAX_LINE_BYTES) return `it is longer than ${MAX_LINE_BYTES} bytes`;
  return hasMoreValues(bytes, MAX_VALUES) ? `it has more than ${MAX_VALUES} values` : undefined;
}
