import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Audit, AuditEntry } from '../../audit/audit.ts';
import type { Clock } from '../../clock.ts';
import type { Problem } from '../problem.ts';
import { addressOf, callerName, networkOf } from './caller.ts';
import { createRefusalLines } from './refusal-lines.ts';

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

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the audit calls it. */
    readonly action?: string;
    /** It only looks, though its method says otherwise: who was let in leaves no line. */
    readonly looks?: true;
  }
}
