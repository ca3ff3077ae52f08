import { type ComposedEngine, composeEngine, type EngineComposition } from './compose-engine.ts';
import type { DomainSettings } from './config/settings.ts';
import type { SearchDomain } from './search/domain.ts';

export interface ComposedLifeboat {
  readonly parts: { readonly engine: ComposedEngine['engines'][number]; readonly guard: ComposedEngine['guard'] };
  readonly close: () => Promise<void>;
}

/** The embedded index of the same catalogue, with a guard of its own, whose events are nobody's: its status shows it. */
export async function composeLifeboat(
  settings: DomainSettings,
  domain: SearchDomain,
  given: EngineComposition,
): Promise<ComposedLifeboat | undefined> {
  const { lifeboat } = settings;
  if (lifeboat === undefined) return undefined;
  const { directory, workers, deadlineMs, maxQueued } = lifeboat;
  const { snippetLength } = settings.engine;
  const engine = {
    kind: 'sqlite',
    directory,
    workers,
    demo: false,
    deadlineMs,
    hardDeadlineMs: deadlineMs,
    maxConcurrent: workers,
    maxQueued,
    limit: 'fixed',
    snippetLength,
  } as const;
  const own = { ...given, observeGuard: () => undefined };
  const composed = await composeEngine(
    { name: `${settings.name} lifeboat`, engine, without: [] },
    domain,
    () => 1,
    own,
  );
  const [only] = composed.engines;
  if (only === undefined) throw new Error('a lifeboat without an engine');
  return { parts: { engine: only, guard: composed.guard }, close: composed.close };
}
