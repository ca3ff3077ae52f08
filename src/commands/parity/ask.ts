import type { DomainSettings } from '../../config/settings.ts';
import { createAdapters, searchDomainOf } from '../../engines/create-engines.ts';
import { createSqliteEngine } from '../../engines/sqlite/engine.ts';
import { type OpenIndex, openIndex } from '../../engines/sqlite/open-index.ts';
import { type IndexMeta, indexFileOf } from '../../engines/sqlite/schema.ts';
import { type EngineReason, isRefusedBy } from '../../resilience/search-error.ts';
import { type Clock, inParallel } from '../../runtime.ts';
import type { SearchRequest } from '../../search/domain.ts';
import type { Engine, ResultPage } from '../../search/engine.ts';
import { comparePages, type PageComparison } from '../../search/overlap.ts';
import { messageOf } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import type { Query } from './queries.ts';

/** One of the two engines compared. */
interface ParitySide {
  readonly name: 'engine' | 'lifeboat';
  readonly engine: Engine;
  /** After this time a client gets no page of this engine. */
  readonly deadlineMs: number;
  /** After this time the search is ended. */
  readonly hardDeadlineMs: number;
}

/** `partial`: an incomplete answer, which tells nothing about the engine's ranking. */
export type ReplyFault = EngineReason | 'partial';

type Reply =
  | { readonly kind: 'page'; readonly page: ResultPage; readonly tookMs: number; readonly late: boolean }
  | { readonly kind: 'fault'; readonly fault: ReplyFault; readonly message: string };

/** The result of one query. Pages are not kept. */
export interface ParitySample {
  readonly text: string;
  readonly weight: number;
  readonly engine: ReplyFacts;
  readonly lifeboat: ReplyFacts;
  /** Present when both engines answered. */
  readonly comparison?: PageComparison;
  /** Number of results of the engine that the lifeboat's index does not hold. */
  readonly notIndexed: number;
}

export type ReplyFacts = ReturnType<typeof factsOf>;

export interface AskOptions extends Pick<Sides, 'isIndexed'> {
  readonly engine: ParitySide;
  readonly lifeboat: ParitySide;
  readonly depth: number;
  readonly atOnce: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onSample: (done: number) => void;
}

export type ParityAnswers = Awaited<ReturnType<typeof askBoth>>;

/** Consecutive faults after which an engine gets no more queries, because it has live searches to answer. */
const MAX_CONSECUTIVE_FAULTS = 5;
const TITLES = 3;

/**
 * Asks both engines each query, one engine after the other, so that at most `atOnce` searches run in both together.
 * @throws the signal's reason when aborted.
 */
export async function askBoth(queries: readonly Query[], options: AskOptions) {
  const { depth, atOnce, clock, signal } = options;
  const samples: ParitySample[] = [];
  const consecutiveFaults = { engine: 0, lifeboat: 0 };
  /** Set when an engine failed repeatedly, so that the other queries are not asked. */
  let gaveUp: string | undefined;

  const ask = async (side: ParitySide, request: SearchRequest): Promise<Reply> => {
    const reply = await replyOf(side, request, clock, signal);
    const isFault = reply.kind === 'fault' && reply.fault !== 'engine-rejected';
    consecutiveFaults[side.name] = isFault ? consecutiveFaults[side.name] + 1 : 0;
    if (isFault && consecutiveFaults[side.name] >= MAX_CONSECUTIVE_FAULTS) {
      gaveUp ??= `the ${side.name} failed ${MAX_CONSECUTIVE_FAULTS} times in a row (${reply.message}); the rest was not asked`;
    }
    return reply;
  };

  await inParallel(queries, atOnce, async ({ prepared: { request }, weight }) => {
    signal.throwIfAborted();
    if (gaveUp !== undefined) return;
    const engine = await ask(options.engine, request);
    const lifeboat = await ask(options.lifeboat, request);
    const both = engine.kind === 'page' && lifeboat.kind === 'page';
    const comparison = both ? comparePages(engine.page, lifeboat.page, depth, request.sort) : undefined;
    samples.push({
      text: request.text,
      weight,
      engine: factsOf(engine),
      lifeboat: factsOf(lifeboat),
      comparison,
      notIndexed: (comparison?.missing ?? []).filter((id) => !options.isIndexed(id)).length,
    });
    options.onSample(samples.length);
  });
  return { samples, gaveUp };
}

async function replyOf(side: ParitySide, request: SearchRequest, clock: Clock, signal: AbortSignal): Promise<Reply> {
  const deadline = AbortSignal.timeout(side.hardDeadlineMs);
  const startedMs = clock.monotonicMs();
  try {
    const page = await side.engine.search(request, AbortSignal.any([signal, deadline]));
    const tookMs = clock.monotonicMs() - startedMs;
    if (page.partial !== undefined) return { kind: 'fault', fault: 'partial', message: page.partial };
    return { kind: 'page', page, tookMs, late: tookMs > side.deadlineMs };
  } catch (error) {
    signal.throwIfAborted();
    if (!isRefusedBy('engine', error)) throw error;
    return { kind: 'fault', fault: error.reason, message: error.message };
  }
}

function factsOf(reply: Reply) {
  if (reply.kind === 'fault') return reply;
  const { kind, tookMs, late, page } = reply;
  return { kind, tookMs, late, titles: page.results.slice(0, TITLES).map(({ title }) => title) };
}

/** Both engines, opened. */
export interface Sides {
  readonly engine: DescribedSide;
  readonly lifeboat: DescribedSide;
  /** Whether the lifeboat's index holds a document. */
  readonly isIndexed: (id: string) => boolean;
  readonly close: () => Promise<void>;
}

interface DescribedSide extends ParitySide {
  /** `sphinx 10.0.0.7:9306/goods`, `sqlite data/goods.sqlite`. */
  readonly is: string;
  /** The metadata of an embedded index; absent for searchd. */
  readonly index?: IndexMeta;
}

/**
 * @param directory of the lifeboat's index
 * @throws IndexError for an index that is missing or has other attributes; an Error with the engine's message when it
 * does not answer.
 */
export async function openSides(
  settings: DomainSettings,
  directory: string,
  atOnce: number,
  { clock, signal }: Pick<CommandContext, 'clock' | 'signal'>,
): Promise<Sides> {
  const { deadlineMs, hardDeadlineMs, snippetLength } = settings.engine;
  const domain = searchDomainOf(settings);
  const closing: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(closing.splice(0).map((each) => each()));
  };
  try {
    const file = indexFileOf(directory, settings.name);
    const index = indexIn(directory, settings);
    closing.push(index.close);
    const lifeboat = await createSqliteEngine({ file, domain, workers: atOnce, snippetLength });
    closing.push(lifeboat.close);
    const own = settings.engine.kind === 'sqlite' ? { ...settings.engine, workers: atOnce } : settings.engine;
    const engines = await createAdapters(own, domain, { clock, random: Math.random, observe: () => undefined });
    closing.push(...engines.map((each) => each.close));
    const at = await firstThatAnswers(engines, namesOf(settings), hardDeadlineMs, signal);
    const lifeboatDeadlineMs = settings.lifeboat?.deadlineMs ?? deadlineMs;
    return {
      engine: { name: 'engine', ...at, ...ownIndex(settings), deadlineMs, hardDeadlineMs },
      lifeboat: {
        name: 'lifeboat',
        engine: lifeboat,
        is: `sqlite ${file}`,
        index: index.meta,
        deadlineMs: lifeboatDeadlineMs,
        hardDeadlineMs: Math.max(lifeboatDeadlineMs, hardDeadlineMs),
      },
      isIndexed: index.holds,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The first server that answers: all have the same index, so one is enough. */
async function firstThatAnswers(
  engines: readonly Engine[],
  names: readonly string[],
  withinMs: number,
  signal: AbortSignal,
): Promise<{ readonly engine: Engine; readonly is: string }> {
  const said: string[] = [];
  for (const [at, engine] of engines.entries()) {
    const is = names[at] ?? '';
    try {
      await engine.probe(AbortSignal.any([signal, AbortSignal.timeout(withinMs)]));
      return { engine, is };
    } catch (error) {
      signal.throwIfAborted();
      said.push(`${is}: ${messageOf(error)}`);
    }
  }
  throw new Error(`the engine does not answer: ${said.join('; ')}`);
}

function namesOf({ name, engine }: DomainSettings): readonly string[] {
  if (engine.kind === 'sqlite') return [`sqlite ${indexFileOf(engine.directory, name)}`];
  return engine.endpoints.map(({ host, port }) => `${engine.kind} ${host}:${port}/${engine.index}`);
}

function ownIndex(settings: DomainSettings): { readonly index?: IndexMeta } {
  if (settings.engine.kind !== 'sqlite') return {};
  const index = indexIn(settings.engine.directory, settings);
  index.close();
  return { index: index.meta };
}

/** Opens the index file in addition to the engine, for its metadata and the ids of its documents. */
function indexIn(directory: string, settings: DomainSettings): OpenIndex {
  const { name, engine } = settings;
  const domain = searchDomainOf(settings);
  return openIndex({ file: indexFileOf(directory, name), domain, snippetLength: engine.snippetLength });
}
