import { composeEngine, type EngineComposition } from './compose-engine.ts';
import type { DomainSettings } from './config/settings.ts';
import type { Guard } from './resilience/guard.ts';
import type { SearchDomain } from './search/domain.ts';
import { createLifeboat, type Lifeboat, type LifeboatOptions } from './search/lifeboat.ts';
import type { EncodePageOptions } from './search/page.ts';

export interface ComposedLifeboat {
  readonly lifeboat: Lifeboat;
  readonly guard: Guard;
  readonly close: () => Promise<void>;
}

export type LifeboatComposition = EngineComposition & EncodePageOptions & Pick<LifeboatOptions, 'observe' | 'hides'>;

/** Each process has its own. */
const ALONE = { live: () => 1, rank: () => 0 };

/** The embedded index of the same catalogue, with a guard of its own, whose events are nobody's: its status shows it. */
export async function composeLifeboat(
  { name, lifeboat, engine: { snippetLength } }: DomainSettings,
  domain: SearchDomain,
  given: LifeboatComposition,
): Promise<ComposedLifeboat | undefined> {
  if (lifeboat === undefined) return undefined;
  const { directory, workers, deadlineMs, maxQueued } = lifeboat;
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
  const composed = await composeEngine(
    { name: `${name} lifeboat`, engine, patienceMs: deadlineMs, without: [] },
    domain,
    ALONE,
    {
      ...given,
      observeGuard: () => undefined,
      // It is what a drill of a dead engine counts on.
      forcedOpen: () => false,
    },
  );
  const [only] = composed.engines;
  if (only === undefined) throw new Error('a lifeboat without an engine');
  const { guard, close } = composed;
  return { lifeboat: createLifeboat({ ...given, domain: name, engine: only, guard, deadlineMs }), guard, close };
}
