import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Audit, AuditEntry } from '../../operations/audit/audit.ts';
import type { Clock } from '../../runtime.ts';
import { createMissBudget } from '../transport/client.ts';
import { type Problem, Refusal } from '../transport/problem.ts';
import { addressOf, callerName, networkOf } from './access.ts';
import { AtMs, queryOf } from './input.ts';
import { described } from './openapi.ts';

/** What a route has to say of a change it made. */
export type ChangeNote = Pick<AuditEntry, 'domain' | 'before' | 'after'>;

/**
 * Writes one line for each request that asks for a change, whatever becomes of it: every one is opened at the door, where
 * its bytes arrive, and closed when its answer goes out, or when its connection ends without one. What a route adds is
 * what it changed; a line never has to be remembered. Callers without the right token are written down by their address,
 * and no more often than refusal-lines.ts allows.
 */
export interface AuditDesk {
  /** At the door, before anything can refuse it. */
  readonly open: (request: IncomingMessage, response: ServerResponse) => void;
  readonly refused: (request: IncomingMessage, problem: Problem) => void;
  /** Its token was right: from now on it has a name. */
  readonly admitted: (request: IncomingMessage) => void;
  readonly changed: (request: FastifyRequest, note: ChangeNote) => void;
  /** Follows the requests through Fastify. To be called before any hook that refuses. */
  readonly follow: (app: FastifyInstance) => void;
  /** Writes down what is still held back. */
  readonly close: () => void;
}

interface Line {
  by: string;
  isAdmitted: boolean;
  /** Of the caller: a connection that has gone has no address. */
  readonly network: string;
  action: string;
  domain: string | undefined;
  target: string | undefined;
  reason: string | undefined;
  note: ChangeNote | undefined;
  code: string | undefined;
  /** A route is at work on it: whether it was done is not known, even when the client has gone. */
  working: boolean;
}

const MAX_TEXT = 500;

export function createAuditDesk(options: { readonly audit: Pick<Audit, 'record'>; readonly clock: Clock }): AuditDesk {
  const { audit, clock } = options;
  const lines = new WeakMap<IncomingMessage, Line>();
  const refusals = createRefusalLines({ record: audit.record, clock });

  const close = (request: IncomingMessage): void => {
    const line = lines.get(request);
    if (line === undefined || line.working) return;
    lines.delete(request);
    const { by, action, domain, target, reason, note, code } = line;
    const entry: AuditEntry = {
      action,
      ...(domain === undefined ? {} : { domain }),
      ...(target === undefined ? {} : { target }),
      by,
      ...(reason === undefined ? {} : { reason }),
      result: code ?? (note === undefined ? 'cut-off' : 'done'),
      ...note,
    };
    if (line.isAdmitted) audit.record(entry);
    else refusals.note(line.network, entry);
  };

  const open = (request: IncomingMessage, response: ServerResponse): void => {
    if (!mutates(request.method) || lines.has(request)) return;
    const action = `${request.method} ${pathOf(request)}`;
    const unknown = { domain: undefined, target: undefined, reason: undefined, note: undefined, code: undefined };
    const caller = { by: addressOf(request.socket), network: networkOf(request.socket), isAdmitted: false };
    lines.set(request, { ...caller, action, ...unknown, working: false });
    response.once('close', () => close(request));
  };

  return {
    open,
    refused: (request, { code }) => {
      const line = lines.get(request);
      if (line !== undefined) line.code = code;
    },
    admitted: (request) => {
      const line = lines.get(request);
      if (line === undefined) return;
      line.isAdmitted = true;
      line.by = callerName(request);
    },
    changed: (request, note) => {
      const line = lines.get(request.raw);
      if (line !== undefined) line.note = note;
    },
    follow: (app) => {
      app.addHook('onRequest', (request, reply, done) => {
        open(request.raw, reply.raw);
        const line = lines.get(request.raw);
        const { action } = request.routeOptions.config;
        if (line !== undefined && action !== undefined) {
          line.action = action;
          line.target = textOf(request.params, 'id');
        }
        done();
      });
      app.addHook('preParsing', (request, _reply, _payload, done) => {
        if (request.routeOptions.config.looks === true) lines.delete(request.raw);
        done();
      });
      app.addHook('preHandler', (request, _reply, done) => {
        const line = lines.get(request.raw);
        if (line !== undefined) {
          line.domain = textOf(request.body, 'domain') ?? onlyDomainOf(request.body);
          line.reason = textOf(request.body, 'reason');
          line.working = true;
        }
        done();
      });
      app.addHook('onSend', (request, _reply, _payload, done) => {
        const line = lines.get(request.raw);
        if (line !== undefined) {
          line.working = false;
          close(request.raw);
        }
        done();
      });
    },
    close: refusals.close,
  };
}

/** Anything but a look: a method nobody knows might change something. */
export function mutates(method: string | undefined): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
}

/** Without the query: no route takes its orders from there, so whatever is in it is none of ours to keep. */
function pathOf({ url = '' }: IncomingMessage): string {
  return (url.split('?', 1)[0] ?? '').slice(0, 200);
}

/** As it was given, even where the request was refused for it; cut to what a line may hold. */
function textOf(given: unknown, field: string): string | undefined {
  const value = memberOf(given, field);
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, MAX_TEXT) : undefined;
}

/** Of a drill, which is asked for with a list. */
function onlyDomainOf(body: unknown): string | undefined {
  const domains = memberOf(body, 'domains');
  return Array.isArray(domains) && domains.length === 1 ? textOf(domains, '0') : undefined;
}

function memberOf(given: unknown, field: string): unknown {
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, field)) return undefined;
  return Reflect.get(given, field);
}

const MAX_ENTRIES = 1000;
/** What an audit gives as `next`, as far as a client may know it. */
const CURSOR = /^[0-9a-f]{12}-[0-9]{1,15}$/;

const AuditQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ENTRIES, default: 100 })),
  before: Type.Optional(
    Type.String({ pattern: CURSOR.source, description: '`next` of the page before. Without it: the newest lines.' }),
  ),
});

const Entry = Type.Object({
  atMs: AtMs,
  action: Type.String({ description: 'Of a refused request that names none: its method and path.' }),
  domain: Type.Optional(Type.String()),
  target: Type.Optional(Type.String({ description: 'The drill or warm-up that the request named.' })),
  by: Type.String({ description: 'A name and an address; without the right token the address alone.' }),
  reason: Type.Optional(Type.String()),
  result: Type.String({
    description:
      '`done`, the code it was refused with, `cut-off` by the client, or `held-back`: refusals without a line of their own.',
  }),
  heldBack: Type.Optional(
    Type.Integer({
      description: 'Refusals for lack of the token from the same address before this line, which got no line.',
    }),
  ),
  before: Type.Optional(Type.Unknown()),
  after: Type.Optional(Type.Unknown()),
});

/** What was asked for and what came of it, as far as it is on this process's disk. */
export function registerAudit(app: FastifyInstance, audit: Pick<Audit, 'page'>): void {
  app.get('/admin/audit', {
    schema: described({
      summary: 'Lines of the audit, newest first',
      description:
        'Pages go back through all files that are kept. Lines written meanwhile move none of the older pages.',
      tag: 'audit',
      query: AuditQuery,
      answer: Type.Object({
        entries: Type.Array(Entry),
        next: Type.Optional(
          Type.String({
            description:
              'Ask for what is older with `before` set to it. Absent: there is nothing older. A page may be short or empty all the same.',
          }),
        ),
      }),
    }),
    handler: async (request, reply) => {
      const query = queryOf(request, AuditQuery);
      const limit = query.count('limit', { min: 1, max: MAX_ENTRIES, otherwise: 100 });
      const before = query.optional('before');
      const isCursor = before === undefined || CURSOR.test(before);
      const page = isCursor ? await audit.page({ limit, ...(before === undefined ? {} : { before }) }) : undefined;
      if (page === undefined)
        throw new Refusal({ code: 'invalid-request', detail: UNKNOWN_CURSOR, parameter: 'before' });
      return reply.send(page);
    },
  });
}

const UNKNOWN_CURSOR =
  'The parameter before is the next of a page before, and its file must still be kept. Begin anew without it.';

/** The audit's lines of callers who brought no right token. */
export interface RefusalLines {
  /** Writes the line, or counts it. @param address of the caller, or its network. */
  readonly note: (address: string, entry: AuditEntry) => void;
  /** Writes down what was counted last. */
  readonly close: () => void;
}

/** Lines of one address: so many at once after a quiet time, and in the long run. */
const PER_ADDRESS = { burst: 5, perMinute: 6 };
/** And of all together, however many addresses they come from: some 17 MB a day at most. */
const OF_ALL = { burst: 20, perMinute: 60 };
/** Addresses remembered. Those that have been quiet longest are forgotten, and the bound of all holds without them. */
const MAX_ADDRESSES = 1000;
/** Counted lines wait for the next line of their address, and no longer than this. */
const SETTLE_MS = 10_000;

/**
 * Without a token anybody can have refused as much as he can send: a line for each would bury what operators did, and
 * turn over the audit's files. So there are few lines, and each says how many of its address were held back before it.
 * None goes uncounted.
 */
export function createRefusalLines(options: {
  readonly record: (entry: AuditEntry) => void;
  readonly clock: Clock;
}): RefusalLines {
  const { record, clock } = options;
  const ofAddress = createMissBudget({ ...PER_ADDRESS, maxClients: MAX_ADDRESSES, clock });
  const ofAll = createMissBudget({ ...OF_ALL, maxClients: 1, clock });
  const heldBack = new Map<string, number>();
  /** Of addresses beyond the bound. */
  let heldBackOfOthers = 0;
  let settling: NodeJS.Timeout | undefined;

  const settle = (): void => {
    settling = undefined;
    const total = [...heldBack.values()].reduce((sum, count) => sum + count, heldBackOfOthers);
    if (total === 0) return;
    const [only] = heldBack.keys();
    const isOne = heldBack.size === 1 && heldBackOfOthers === 0 && only !== undefined;
    const many = `${heldBackOfOthers > 0 ? 'more than ' : ''}${heldBack.size} addresses`;
    heldBack.clear();
    heldBackOfOthers = 0;
    record({ action: 'refusals', by: isOne ? only : many, result: 'held-back', heldBack: total });
  };

  const holdBack = (address: string): void => {
    const before = heldBack.get(address);
    if (before === undefined && heldBack.size >= MAX_ADDRESSES) heldBackOfOthers += 1;
    else heldBack.set(address, (before ?? 0) + 1);
    settling ??= setTimeout(settle, SETTLE_MS).unref();
  };

  return {
    note: (address, entry) => {
      if (!ofAddress.mayMiss(address) || !ofAll.mayMiss('')) {
        holdBack(address);
        return;
      }
      const before = heldBack.get(address);
      heldBack.delete(address);
      record(before === undefined ? entry : { ...entry, heldBack: before });
    },
    close: () => {
      clearTimeout(settling);
      settle();
    },
  };
}
