import type { Clock } from '../../clock.ts';
import { enginesOf, indexFileOf, searchDomainOf } from '../../compose-engine.ts';
import type { DomainSettings, EngineSettings } from '../../config/settings.ts';
import { type OpenIndex, openIndex } from '../../engines/sqlite/open-index.ts';
import type { IndexMeta } from '../../engines/sqlite/schema.ts';
import type { Engine } from '../../search/engine.ts';
import type { Side } from './ask.ts';

/** Both engines, open and answering. */
export interface Sides {
  readonly engine: Side & Described;
  readonly lifeboat: Side & Described;
  /** Whether the lifeboat's index holds a document. */
  readonly isIndexed: (id: string) => boolean;
  readonly close: () => Promise<void>;
}

export interface Described {
  /** `sphinx 10.0.0.7:9306/goods`, `sqlite data/goods.sqlite`. */
  readonly is: string;
  /** What the index says of itself; searchd's is not asked. */
  readonly index?: IndexMeta;
}

export interface OpenSidesOptions {
  readonly settings: DomainSettings;
  /** Of the lifeboat's index. */
  readonly directory: string;
  readonly atOnce: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** @throws IndexError for an index that is missing or of other attributes, and with the engine's words when it cannot answer. */
export async function openSides(options: OpenSidesOptions): Promise<Sides> {
  const { settings, directory, atOnce, signal } = options;
  const { deadlineMs, hardDeadlineMs } = settings.engine;
  const closing: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(closing.splice(0).map((each) => each()));
  };
  const open = async (engine: EngineSettings): Promise<readonly Engine[]> => {
    const engines = await enginesOf(engine, searchDomainOf(settings), { ...options, observeEngine: () => undefined });
    closing.push(...engines.map((each) => each.close));
    return engines;
  };
  try {
    const file = indexFileOf(directory, settings.name);
    const index = indexIn(directory, settings);
    closing.push(index.close);
    const [boat] = await open({ ...settings.engine, kind: 'sqlite', directory, workers: atOnce, demo: false });
    if (boat === undefined) throw new Error(`${file} opened as nothing`);
    const names = namesOf(settings);
    const engines = await open(
      settings.engine.kind === 'sqlite' ? { ...settings.engine, workers: atOnce } : settings.engine,
    );
    const at = await firstThatAnswers(engines, names, hardDeadlineMs, signal);
    const boatDeadlineMs = settings.lifeboat?.deadlineMs ?? deadlineMs;
    return {
      engine: { name: 'engine', ...at, ...ownIndex(settings), deadlineMs, hardDeadlineMs },
      lifeboat: {
        name: 'lifeboat',
        engine: boat,
        is: `sqlite ${file}`,
        index: index.meta,
        deadlineMs: boatDeadlineMs,
        hardDeadlineMs: Math.max(boatDeadlineMs, hardDeadlineMs),
      },
      isIndexed: index.holds,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Every endpoint has the same index, so one is enough; a dead one is no reason not to measure. */
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
      said.push(`${is}: ${error instanceof Error ? error.message : error}`);
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

/** The file itself, beside the engine that searches it: for what it says of itself, and which documents it holds. */
function indexIn(directory: string, settings: DomainSettings): OpenIndex {
  const { name, engine } = settings;
  const domain = searchDomainOf(settings);
  return openIndex({ file: indexFileOf(directory, name), domain, snippetLength: engine.snippetLength });
}
