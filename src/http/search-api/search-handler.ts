import type { IncomingMessage, ServerResponse } from 'node:http';
import { ETAG_SUFFIX } from '../../cache/codec.ts';
import type { Answer } from '../../search/answer.ts';
import type { Search } from '../../search/search.ts';
import type { Door } from '../transport/admission.ts';
import type { HeldBytes } from '../transport/buffer-budget.ts';
import { CLIENT_CLOSED, type Exchange, type Exchanges } from '../transport/exchange.ts';
import { type Form, matchesEntityTag } from '../transport/negotiate.ts';
import { Refusal } from '../transport/problem.ts';
import { domainLabel, parametersOf, type Targets } from '../transport/request-target.ts';
import type { IdentityBodies } from './identity-bodies.ts';
import { answerFields } from './response-headers.ts';

export type SearchHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface SearchHandlerOptions {
  readonly search: Pick<Search, 'domains' | 'fromMemory'>;
  readonly door: Door;
  readonly targets: Targets;
  readonly exchanges: Exchanges;
  readonly negotiate: (acceptEncoding: string | undefined, stored: Answer['entry']['coding']) => Form;
  readonly identityBodies: IdentityBodies;
  readonly held: Pick<HeldBytes, 'watch'>;
  readonly clientMaxAgeMs: (domain: string) => number;
  readonly maxUrlBytes: number;
  /** Every page is computed and stored anew, and kept by no cache downstream: for operators alone. */
  readonly anew?: boolean;
  readonly hangingUp: () => boolean;
}

/**
 * `GET|HEAD /search` on node's own request and response, because a hit is answered before Fastify would have found its
 * route: Fastify serves the rest. Nothing a client sends makes it pass over the cache, neither `no-cache` nor a token. A
 * fresh L1 entry is answered in the same turn of the event loop, without a promise. A client that disconnects never
 * aborts a flight: what it asked for is still computed and stored.
 */
export function createSearchHandler(options: SearchHandlerOptions): SearchHandler {
  const { search, door, targets, exchanges, negotiate, identityBodies, held, clientMaxAgeMs } = options;
  const { anew = false, hangingUp } = options;
  const varyOf = new Map(
    search.domains.map(({ name, context }) => {
      const headers = context.filter(({ source }) => source === 'header').map((declared) => declared.name);
      return [name, ['Accept-Encoding', ...headers].join(', ')];
    }),
  );

  const write = (exchange: Exchange, answer: Answer, fields: string[], body: Buffer): void => {
    const { response } = exchange;
    if (response.destroyed) {
      exchanges.end(exchange, { outcome: 'aborted', reason: answer.reason, status: CLIENT_CLOSED });
      return;
    }
    if (hangingUp()) response.shouldKeepAlive = false;
    fields.push('content-type', 'application/json; charset=utf-8', 'content-length', String(body.length));
    response.writeHead(200, fields);
    response.end(body);
    held.watch(exchange.request.socket, response);
    exchanges.end(exchange, { outcome: answer.outcome, reason: answer.reason, status: 200 });
  };

  const deliver = (exchange: Exchange, answer: Answer): void => {
    const { request, response } = exchange;
    const { entry } = answer;
    const form = negotiate(headerOf(request, 'accept-encoding'), entry.coding);
    if (form === 'none') {
      const detail = `This page can be sent as ${entry.coding}${entry.coding === 'identity' ? '' : ' or identity'}.`;
      throw new Refusal({ code: 'not-acceptable', detail, parameter: 'Accept-Encoding' });
    }
    const coding = form === 'stored' ? entry.coding : 'identity';
    const nowMs = exchanges.nowMs();
    const fields = answerFields(answer, {
      etag: `"${entry.etag}${ETAG_SUFFIX[coding]}"`,
      vary: varyOf.get(exchange.domain) ?? 'Accept-Encoding',
      requestId: exchange.requestId,
      clientMaxAgeMs: clientMaxAgeMs(exchange.domain),
      nowMs,
      elapsedMs: nowMs - exchange.startedMs,
      noStore: anew,
    });
    if (matchesEntityTag(request.headers['if-none-match'], entry.etag) && !response.destroyed) {
      if (hangingUp()) response.shouldKeepAlive = false;
      response.writeHead(304, fields);
      response.end();
      exchanges.end(exchange, { outcome: answer.outcome, reason: answer.reason, status: 304 });
      return;
    }
    if (coding !== 'identity') fields.push('content-encoding', coding);
    const body = form === 'stored' ? entry.body : identityBodies.of(entry);
    if (Buffer.isBuffer(body)) write(exchange, answer, fields, body);
    else
      body
        .then((inflated) => write(exchange, answer, fields, inflated))
        .catch((error) => exchanges.refuse(exchange, error));
  };

  const prepare = (exchange: Exchange, target: string) => {
    try {
      const prepared = targets.prepare(target, exchange.request.headers);
      exchange.domain = prepared.request.domain;
      exchange.key = prepared.key;
      exchange.bucket = prepared.bucket;
      return prepared;
    } catch (error) {
      exchange.domain = labelOf(exchange, target);
      throw error;
    }
  };

  const labelOf = ({ request }: Exchange, target: string): string => {
    try {
      return domainLabel(search, parametersOf(target, request.headers, options.maxUrlBytes).pairs);
    } catch {
      return 'none';
    }
  };

  return (request, response) => {
    const exchange = exchanges.begin(request, response);
    try {
      const prepared = prepare(exchange, request.url ?? '');
      const answer = anew ? undefined : search.fromMemory(prepared);
      if (answer !== undefined) {
        deliver(exchange, answer);
        return;
      }
      door
        .search({ prepared, request, bypass: anew })
        .then((late) => deliver(exchange, late))
        .catch((error) => exchanges.refuse(exchange, error));
    } catch (error) {
      exchanges.refuse(exchange, error);
    }
  };
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
