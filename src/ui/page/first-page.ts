import type { FastifyRequest } from 'fastify';
import type { MissReason } from '../../cache/events.ts';
import { DEMO_SEARCHES } from '../../catalogue/demo.ts';
import type { Settings } from '../../config/settings.ts';
import { problemOf } from '../../http/problems.ts';
import { ABORTED, beginServerSpan, domainLabel, endServerSpan, outcomeOf } from '../../http/search-api/exchange.ts';
import type { PageContext } from '../../http/search-api/public-server.ts';
import { cacheStatus } from '../../http/search-api/response-headers.ts';
import { createRecentCache } from '../../http/transport/content-coding.ts';
import { problemResponse } from '../../http/transport/problem.ts';
import { headerReader } from '../../http/transport/request-target.ts';
import { htmlAround, toHtml } from '../../report/html.ts';
import { h } from '../../report/tree.ts';
import { promised } from '../../runtime.ts';
import { prepareSearch } from '../../search/key.ts';
import type { Outcome } from '../../search/outcome.ts';
import type { Answer } from '../../search/read-path.ts';
import { formatTraceparent } from '../../search/trace.ts';
import { type Assets, documentHead } from '../shared/assets.ts';
import { type Example, isStart, type PageAddress, type Site, searchPairs } from './assets/address.ts';
import {
  type AnswerBody,
  answerFrom,
  documentTitle,
  type Failure,
  type PageModel,
  type Shown,
} from './assets/model.ts';
import { type Provenance, provenanceOf } from './assets/provenance.ts';
import { columnsView, pageView } from './assets/view/page.ts';

/** The result of the search that the server makes for the first page. */
export interface FirstPage {
  readonly shown: Shown;
  readonly status: number;
  readonly retryAfter?: string;
  /** The duration of the search; absent without a search. */
  readonly durationMs?: number;
  /** Where the request is traced. */
  readonly traceresponse?: string;
}

interface Visit {
  readonly site: Site;
  readonly address: PageAddress;
  readonly request: FastifyRequest;
}

/** Maximum size of the inflated bodies whose parsed form is remembered. */
const MAX_READ_BYTES = 2 * 2 ** 20;
const read = createRecentCache<Buffer, AnswerBody>(MAX_READ_BYTES, () => new WeakMap());

/** Maximum size of the remembered HTML of facets and results: some hundred pages of 20 results. */
const MAX_DRAWN_BYTES = 8 * 2 ** 20;
const drawn = createRecentCache<AnswerBody, { readonly view: string; readonly html: Buffer }>(
  MAX_DRAWN_BYTES,
  () => new WeakMap(),
);

/**
 * Makes the search that the page's script would make, within the process. A refusal is a page too; only an internal
 * fault rejects.
 */
export async function firstPage({ site, address, request }: Visit, options: PageOptions): Promise<FirstPage> {
  if (isStart(address)) return { shown: { kind: 'start' }, status: 200 };
  const { domains, admission, pageBodies, clock, count, tracer } = options;
  const pairs = searchPairs(address, site);
  const startedMs = clock.monotonicMs();
  const span = beginServerSpan(tracer, '/', request.raw);
  const traced = span === undefined ? {} : { traceresponse: formatTraceparent(span) };
  const elapsedMs = (): number => clock.monotonicMs() - startedMs;
  const report = (outcome: Outcome, status: number, reason?: MissReason): void => {
    const ending = request.raw.socket.destroyed ? { ...ABORTED, reason } : { outcome, reason, status };
    const counted = { route: 'search', domain: domainLabel(domains, pairs), span } as const;
    count(counted, ending, elapsedMs());
    if (span !== undefined) endServerSpan(span, counted, ending);
  };
  try {
    admission.admitPage();
    const prepared = prepareSearch({ pairs, header: headerReader(request.headers) }, domains);
    const client = admission.clientOf(request.raw, span);
    const answer = await promised<Answer>((done) => prepared.domain.search(prepared, client, done));
    // The search's own time, without inflating the body and making HTML of it.
    const durationMs = elapsedMs();
    const body = readBody(await pageBodies.of(answer.entry));
    report(answer.outcome, 200, answer.reason);
    const shown = { kind: 'answer', answer: body, provenance: provenanceOfAnswer(answer, durationMs) } as const;
    return { shown, status: 200, durationMs, ...traced };
  } catch (error) {
    const refused = refusedPage(error, options.random);
    report(outcomeOf(problemOf(error)), refused.status);
    if (problemOf(error).code === 'internal') throw error;
    return { ...refused, ...traced };
  }
}

/** A refusal, with the text, the status and the Retry-After of `/search`. */
export function refusedPage(error: unknown, random: () => number): FirstPage {
  const problem = problemOf(error);
  const { status, headers } = problemResponse(problem, undefined, random);
  const retryAfter = headers['retry-after'];
  const shown: Failure = {
    kind: 'failure',
    code: problem.code,
    detail: problem.detail,
    parameter: problem.parameter,
    retryAfterSeconds: retryAfter === undefined ? undefined : Number(retryAfter),
  };
  return { shown, status, retryAfter };
}

/** Parses an answer's inflated body. One buffer gives one object while it is remembered. @throws SyntaxError for no JSON. */
export function readBody(identity: Buffer): AnswerBody {
  const known = read.get(identity);
  if (known !== undefined) return known;
  const body = answerFrom(JSON.parse(identity.toString('utf8')));
  read.set(identity, body, identity.length);
  return body;
}

/**
 * The provenance is made from the text of the headers, as in the browser, so that the first page and a fetched page
 * show the same.
 */
export function provenanceOfAnswer(answer: Answer, serverMs: number): Provenance {
  return provenanceOf(cacheStatus(answer), serverTiming(answer, serverMs));
}

/** The whole document. It can be read without scripts; the script takes it over. */
export function documentHtml(model: PageModel, assets: Assets): Buffer {
  const head = documentHead(documentTitle(model), assets);
  const columns = h('div')();
  const app = h('div', { id: 'app' })(pageView(model, () => columns));
  const body = h('body', { 'data-site': JSON.stringify(model.site) })(app);
  const [before, after] = htmlAround(h('html', { lang: model.language })(head, body), columns);
  const middle = model.shown.kind === 'answer' ? [columnsHtml(model, model.shown.answer)] : [];
  return Buffer.concat([Buffer.from(`<!doctype html>${before}`), ...middle, Buffer.from(after)]);
}

/** `Server-Timing` of the search behind a page, in milliseconds, as `/search` writes it. */
function serverTiming({ outcome, timings }: Answer, totalMs: number): string {
  const engine = timings.engineMs === undefined ? '' : `, engine;dur=${timings.engineMs}`;
  return `cache;desc=${outcome}${engine}, total;dur=${totalMs}`;
}

/**
 * Facets and results as HTML: most of a page's cost. They are remembered for the last address and language of the answer.
 * The provenance and the age are drawn for each page.
 */
function columnsHtml(model: PageModel, answer: AnswerBody): Buffer {
  const view = JSON.stringify([model.language, model.site.preferred, model.address]);
  const known = drawn.get(answer);
  if (known?.view === view) return known.html;
  const html = Buffer.from(toHtml(columnsView(model, answer)));
  drawn.set(answer, { view, html }, view.length + html.length);
  return html;
}

export interface PageOptions extends PageContext, PageSettings {}

interface PageSettings {
  /** Searches offered on the empty page. */
  readonly examples?: readonly Example[];
  /** Address of the admin listener's explain, where readers of this page may open it. */
  readonly explainUrl?: string;
}

export function pageSettings({ domains, admin, public: { host } }: Settings): PageSettings {
  const isDemo = domains.every(({ engine }) => engine.kind === 'sqlite' && engine.demo);
  // When both listeners have the same address, a reader of the page can reach the admin listener too.
  const isOpen = admin.host === host && admin.token === undefined;
  const scheme = admin.tls === undefined ? 'http' : 'https';
  return {
    examples: isDemo ? DEMO_SEARCHES : undefined,
    explainUrl: isOpen ? `${scheme}://${admin.host}:${admin.port}/admin/explain` : undefined,
  };
}
