import type { Coding } from '../../cache/entry.ts';
import type { SearchedDomain } from '../../search/domain-search.ts';
import { type PreparedSearch, prepareSearch } from '../../search/key.ts';
import type { Answer } from '../../search/read-path.ts';
import { formatTraceparent } from '../../search/trace.ts';
import type { ReadHeaders } from '../lane/head.ts';
import type { BufferBudget } from '../transport/buffer-budget.ts';
import {
  createNegotiator,
  createRecentCache,
  notModified,
  type PageBodies,
  TAG_SUFFIX,
} from '../transport/content-coding.ts';
import { parametersOf } from '../transport/request-target.ts';
import type { SearchAdmission } from './admission.ts';
import {
  ABORTED,
  createExchanges,
  domainLabel,
  type Exchange,
  type ExchangeOptions,
  type HttpRequest,
  type HttpResponse,
} from './exchange.ts';
import { answerHeaders, createHitHeads, noHeads, type TargetHeads } from './response-headers.ts';

type SearchHandler = (request: HttpRequest, response: HttpResponse) => void;

export interface SearchHandlerOptions extends ExchangeOptions {
  readonly domains: readonly SearchedDomain[];
  readonly clientOf: SearchAdmission['clientOf'];
  readonly pageBodies: PageBodies;
  readonly buffers: Pick<BufferBudget, 'watch'>;
  readonly maxUrlBytes: number;
  /** The limit on prepared searches that are remembered by URL; 16 MiB when absent. */
  readonly targetMemoBytes?: number;
  /** No cache downstream may store the answers. */
  readonly noStore?: boolean;
}

/**
 * `GET|HEAD /search` on the lane's request and response or on Node's own: a hit is answered before Fastify would have found
 * a route. Nothing that a client sends bypasses the cache, neither `no-cache` nor a token.
 * A fresh L1 entry is answered in the same turn of the event loop, without a promise. A client that disconnects never
 * aborts a load: the page is still computed and stored.
 */
export function createSearchHandler(options: SearchHandlerOptions): SearchHandler {
  const { domains, clientOf, pageBodies, buffers, maxUrlBytes, clock } = options;
  const { noStore = false, closesConnections } = options;
  const exchanges = createExchanges(options);
  const negotiate = createNegotiator();
  const prepareTarget = createTargets(options);
  const hitHead = createHitHeads();
  /** The header values of each domain. */
  const ofDomain = new Map(
    domains.map(({ name, context, clientMaxAgeMs }) => {
      const headers = context.filter(({ source }) => source === 'header').map((declared) => declared.name);
      return [name, { vary: ['Accept-Encoding', ...headers].join(', '), clientMaxAgeMs }];
    }),
  );

  /** All fields of an answer. @param body absent for a 304. */
  const fieldsOf = (
    answer: Answer,
    { domain, requestId, startedMs }: Pick<Exchange, 'domain' | 'requestId' | 'startedMs'>,
    { coding, body, nowMs }: { readonly coding: Coding; readonly body: Buffer | undefined; readonly nowMs: number },
  ): string[] => {
    const fields = answerHeaders(answer, {
      ...(ofDomain.get(domain) ?? UNKNOWN_DOMAIN),
      etag: `"${answer.entry.etag}${TAG_SUFFIX[coding]}"`,
      requestId,
      nowMs,
      elapsedMs: nowMs - startedMs,
      noStore,
    });
    if (body === undefined) return fields;
    if (coding !== 'identity') fields.push('content-encoding', coding);
    fields.push('content-type', 'application/json; charset=utf-8', 'content-length', String(body.length));
    return fields;
  };

  /** @param body absent for a 304. */
  const send = (exchange: Exchange, answer: Answer, coding: Coding, body: Buffer | undefined): void => {
    const { request, response, requestId, span } = exchange;
    if (response.destroyed) {
      exchanges.end(exchange, { ...ABORTED, reason: answer.reason });
      return;
    }
    if (closesConnections()) response.shouldKeepAlive = false;
    const status = body === undefined ? 304 : 200;
    const nowMs = clock.monotonicMs();
    if (answer.outcome === 'hit-l1' && span === undefined) {
      const head = hitHead(exchange.heads, answer, nowMs, { coding, status }, () =>
        fieldsOf(answer, { ...exchange, requestId: '' }, { coding, body, nowMs }),
      );
      if (response.sendShared !== undefined && response.shouldKeepAlive) {
        response.sendShared(head, requestId, body);
        exchanges.end(exchange, { outcome: answer.outcome, status });
        return;
      }
      const fields = head.fields.slice();
      fields[head.ownAt] = requestId;
      response.writeHead(status, fields);
      response.end(body);
    } else {
      const fields = fieldsOf(answer, exchange, { coding, body, nowMs });
      if (span !== undefined) fields.push('traceresponse', formatTraceparent(span));
      response.writeHead(status, fields);
      response.end(body);
    }
    buffers.watch(request.socket, response);
    exchanges.end(exchange, { outcome: answer.outcome, reason: answer.reason, status });
  };

  const deliver = (exchange: Exchange, answer: Answer): void => {
    const { headers } = exchange.request;
    const { entry } = answer;
    const coding = negotiate(headers['accept-encoding'], entry.coding);
    if (notModified(headers, `${entry.etag}${TAG_SUFFIX[coding]}`)) {
      send(exchange, answer, coding, undefined);
      return;
    }
    const body = pageBodies.of(entry, coding);
    if (Buffer.isBuffer(body)) send(exchange, answer, coding, body);
    else body.then((made) => send(exchange, answer, coding, made)).catch((error) => exchanges.refuse(exchange, error));
  };

  const prepare = (exchange: Exchange, target: string): KnownTarget['prepared'] => {
    try {
      const { prepared, heads } = prepareTarget(target, exchange.request.headers);
      exchange.heads = heads;
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
      const { pairs, undecodable } = parametersOf(target, request.headers, maxUrlBytes);
      return domainLabel(domains, undecodable.has('domain') ? undefined : pairs);
    } catch {
      return 'none';
    }
  };

  return (request, response) => {
    const exchange = exchanges.begin(request, response);
    try {
      const prepared = prepare(exchange, request.url ?? '');
      prepared.domain.search(prepared, clientOf(request, exchange.span), (error, answer) => {
        try {
          if (answer === undefined) exchanges.refuse(exchange, error);
          else deliver(exchange, answer);
        } catch (fault) {
          exchanges.refuse(exchange, fault);
        }
      });
    } catch (error) {
      exchanges.refuse(exchange, error);
    }
  };
}

const TARGET_MEMO_BYTES = 16 * 2 ** 20;
/** No answer has it: a page belongs to a domain. */
const UNKNOWN_DOMAIN = { vary: 'Accept-Encoding', clientMaxAgeMs: 0 };

/**
 * Request target → prepared search; a URL that was seen before costs one map look-up.
 * @throws Refusal, InvalidSearch.
 */
function createTargets({ domains, maxUrlBytes, targetMemoBytes = TARGET_MEMO_BYTES }: SearchHandlerOptions) {
  const memo = createTargetMemo(targetMemoBytes);
  // When a header is part of the key, the URL alone does not identify the search.
  const byUrlAlone = new Set(
    domains.filter(({ context }) => context.every(({ source }) => source === 'query')).map(({ name }) => name),
  );
  return (target: string, headers: ReadHeaders): KnownTarget => {
    const known = memo.get(target);
    if (known !== undefined) return known;
    const prepared = prepareSearch(parametersOf(target, headers, maxUrlBytes), domains);
    const made = { prepared, heads: noHeads() };
    if (byUrlAlone.has(prepared.request.domain)) memo.set(target, made);
    return made;
  };
}

interface KnownTarget {
  readonly prepared: PreparedSearch<SearchedDomain>;
  readonly heads: TargetHeads;
}

/** The cost of a prepared search beside its texts: objects, buffer headers, map slots. An estimate, rather too high. */
const OVERHEAD_BYTES = 800;

/** Remembers prepared searches by request target, so that a repeated URL is neither parsed nor hashed again. */
export function createTargetMemo(maxBytes: number) {
  const recent = createRecentCache<string, KnownTarget>(maxBytes, () => new Map());
  return {
    get: recent.get,
    set: (target: string, known: KnownTarget): void => {
      const bytes = 2 * target.length + 4 * known.prepared.canonical.length + OVERHEAD_BYTES;
      if (bytes <= maxBytes / 2) recent.set(target, known, bytes);
    },
  };
}
