import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AUDIT_ENTRY, type Audit, type AuditEntry } from '../../operations/audit/audit.ts';
import { CURSOR } from '../../operations/audit/log-file.ts';
import type { Clock } from '../../runtime.ts';
import { subscriberAt } from '../transport/client.ts';
import { type Problem, Refusal } from '../transport/problem.ts';
import { createTokenBuckets } from '../transport/token-bucket.ts';
import { addressOf, callerName, mutates, UNKNOWN_ADDRESS } from './access.ts';
import { adminRoutes, type ChangeNote, defaulted } from './input.ts';

interface Line {
  by: string;
  isAdmitted: boolean;
  /** By which lines of refusals are limited. It is read when the request begins: a closed connection has no address. */
  readonly network: string;
  action: string;
  domain?: string;
  target?: string;
  reason?: string;
  note?: ChangeNote;
  code?: string;
  /** A route is working on the request: its result is not known yet, even when the client has gone. */
  working: boolean;
}

const MAX_TEXT = 500;

/**
 * Writes one line for each request that asks for a change, whatever its result. The line is opened when the request
 * arrives, and closed when its answer is sent or when its connection ends without an answer, so that no route can forget
 * it; a route only adds what it changed. Lines of callers without the right token carry their address, and their number is
 * limited by `createRefusalSampler`.
 */
export function createAuditTrail({ audit, clock }: { readonly audit: Pick<Audit, 'record'>; readonly clock: Clock }) {
  const lines = new WeakMap<IncomingMessage, Line>();
  const refusals = createRefusalSampler({ record: audit.record, clock });
  /** A request that asks for no change has no line. */
  const add = (request: IncomingMessage, part: Partial<Line>): void => {
    const line = lines.get(request);
    if (line !== undefined) Object.assign(line, part);
  };

  const close = (request: IncomingMessage): void => {
    const line = lines.get(request);
    if (line === undefined || line.working) return;
    lines.delete(request);
    const { by, action, domain, target, reason, note, code } = line;
    const result = code ?? (note === undefined ? 'cut-off' : 'done');
    const entry: AuditEntry = { action, domain, target, by, reason, result, ...note };
    if (line.isAdmitted) audit.record(entry);
    else refusals.note(line.network, entry);
  };

  /** To be called before anything can refuse the request. */
  const open = (request: IncomingMessage, response: ServerResponse): void => {
    if (!mutates(request.method) || lines.has(request)) return;
    const action = `${request.method} ${pathOf(request)}`;
    const { socket } = request;
    const network = subscriberAt(socket) ?? UNKNOWN_ADDRESS;
    lines.set(request, { by: addressOf(socket), network, isAdmitted: false, action, working: false });
    response.once('close', () => close(request));
  };

  return {
    open,
    refused: (request: IncomingMessage, { code }: Problem): void => add(request, { code }),
    /** The token was right: the line gets the caller's name. */
    admitted: (request: IncomingMessage): void => add(request, { isAdmitted: true, by: callerName(request) }),
    changed: (request: FastifyRequest, note: ChangeNote): void => add(request.raw, { note }),
    /** Follows the requests through Fastify. To be called before any hook that refuses. */
    follow: (app: FastifyInstance): void => {
      app.addHook('onRequest', (request, reply, done) => {
        open(request.raw, reply.raw);
        const { action } = request.routeOptions.config;
        if (action !== undefined) add(request.raw, { action, target: textOf(request.params, 'id') });
        done();
      });
      app.addHook('preParsing', (request, _reply, _payload, done) => {
        if (request.routeOptions.config.audited === false) lines.delete(request.raw);
        done();
      });
      app.addHook('preHandler', ({ raw, body }, _reply, done) => {
        const domain = textOf(body, 'domain') ?? onlyDomainOf(body);
        add(raw, { domain, reason: textOf(body, 'reason'), working: true });
        done();
      });
      app.addHook('onSend', ({ raw }, _reply, _payload, done) => {
        add(raw, { working: false });
        close(raw);
        done();
      });
    },
    /** Writes the refusals that were counted but not yet written. */
    close: refusals.close,
  };
}

/** Without the query: no route that changes something reads it, and it may hold anything. */
function pathOf({ url = '' }: IncomingMessage): string {
  return (url.split('?', 1)[0] ?? '').slice(0, 200);
}

/** The text as it was sent, even when it is the reason of the refusal; cut to `MAX_TEXT` characters. */
function textOf(given: unknown, field: string): string | undefined {
  const value = memberOf(given, field);
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, MAX_TEXT) : undefined;
}

/** The domain of a drill: its body has a list of domains. */
function onlyDomainOf(body: unknown): string | undefined {
  const domains = memberOf(body, 'domains');
  return Array.isArray(domains) && domains.length === 1 ? textOf(domains, '0') : undefined;
}

function memberOf(given: unknown, field: string): unknown {
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, field)) return undefined;
  return Reflect.get(given, field);
}

/** Lines of one address. */
const PER_ADDRESS = { burst: 5, perMinute: 6 };
/** Lines of all addresses together: about 17 MB a day at most. */
const ALL_ADDRESSES = { burst: 20, perMinute: 60 };
/** Maximum number of addresses. Those that were quiet longest are dropped; the limit of all still holds. */
const MAX_ADDRESSES = 1000;
/** A count is written with the next line of its address, at the latest after this time. */
const SETTLE_MS = 10_000;

/**
 * Samples the audit lines of callers without the right token. A client without a token can send any number of requests that are refused. One line for each would hide the lines of
 * operators and rotate the audit's files. So there are few lines, and each says how many refusals of its address were held
 * back before it. Every refusal is counted.
 */
export function createRefusalSampler({ record, clock }: { readonly record: Audit['record']; readonly clock: Clock }) {
  const perAddress = createTokenBuckets({ ...PER_ADDRESS, maxKeys: MAX_ADDRESSES, clock });
  const ofAll = createTokenBuckets({ ...ALL_ADDRESSES, maxKeys: 1, clock });
  const omitted = new Map<string, number>();
  /** Refusals omitted from all addresses beyond `MAX_ADDRESSES`, counted together. */
  let omittedOfOthers = 0;
  let settling: NodeJS.Timeout | undefined;

  const settle = (): void => {
    settling = undefined;
    const total = [...omitted.values()].reduce((sum, count) => sum + count, omittedOfOthers);
    if (total === 0) return;
    const [only] = omitted.keys();
    const isOne = omitted.size === 1 && omittedOfOthers === 0 && only !== undefined;
    const many = `${omittedOfOthers > 0 ? 'more than ' : ''}${omitted.size} addresses`;
    omitted.clear();
    omittedOfOthers = 0;
    record({ action: 'refusals', by: isOne ? only : many, result: 'omitted', omitted: total });
  };

  const holdBack = (address: string): void => {
    const before = omitted.get(address);
    if (before === undefined && omitted.size >= MAX_ADDRESSES) omittedOfOthers += 1;
    else omitted.set(address, (before ?? 0) + 1);
    settling ??= setTimeout(settle, SETTLE_MS).unref();
  };

  return {
    /** Writes the line or only counts it. @param address of the caller, or its network. */
    note: (address: string, entry: AuditEntry): void => {
      if (!perAddress.take(address) || !ofAll.take('')) {
        holdBack(address);
        return;
      }
      const before = omitted.get(address);
      omitted.delete(address);
      record(before === undefined ? entry : { ...entry, omitted: before });
    },
    /** Writes the counts that are left. */
    close: (): void => {
      clearTimeout(settling);
      settle();
    },
  };
}

const MAX_ENTRIES = 1000;
const AuditQuery = Type.Object({
  limit: defaulted(Type.Integer({ minimum: 1, maximum: MAX_ENTRIES, default: 100 })),
  before: Type.Optional(
    Type.String({ pattern: CURSOR.source, description: '`next` of the previous page. Without it: the newest lines.' }),
  ),
});

/** `GET /admin/audit`: the lines that are on the disk of this process. */
export function registerAudit(app: FastifyInstance, audit: Pick<Audit, 'page'>): void {
  adminRoutes(app, 'audit').get('/admin/audit', {
    summary: 'Lines of the audit, newest first',
    description: 'Pages go back through all files that are kept. New lines do not move older pages.',
    query: AuditQuery,
    answer: Type.Object({
      entries: Type.Array(AUDIT_ENTRY),
      next: Type.Optional(
        Type.String({
          description:
            'Ask for older lines with `before` set to it. Absent: there are none. A page may be short or empty although older lines exist.',
        }),
      ),
    }),
    handle: async ({ query: { limit, before } }) => {
      const page = await audit.page({ limit, before });
      if (page !== undefined) return page;
      throw new Refusal({ code: 'invalid-request', detail: UNKNOWN_CURSOR, parameter: 'before' });
    },
  });
}

const UNKNOWN_CURSOR =
  'The parameter before must be the next of an earlier page, and its file must still be kept. Start again without it.';
