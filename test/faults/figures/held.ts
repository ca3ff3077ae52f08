import type { ServiceProcess } from '../process.ts';

/** In which state each of these searches is in a tier, as the process itself explains it. */
export type Holdings = Readonly<Record<'l1' | 'l2', ReadonlyMap<string, string>>>;

const AT_ONCE = 8;

/** Asks `/admin/explain`, which counts as no use and asks no engine. */
export async function holdingsOf({ adminUrl }: ServiceProcess, texts: readonly string[]): Promise<Holdings> {
  const found = { l1: new Map<string, string>(), l2: new Map<string, string>() };
  const rest = texts.values();
  const worker = async (): Promise<void> => {
    for (const text of rest) {
      const response = await fetch(`${adminUrl}/admin/explain?q=${encodeURIComponent(text)}`);
      const { tiers } = (await response.json()) as { tiers: readonly { tier: 'l1' | 'l2'; state: string }[] };
      for (const { tier, state } of tiers) found[tier].set(text, state);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found;
}

/** Those that may be served, at least when nothing better can be had. */
export function servable(tier: ReadonlyMap<string, string>): ReadonlySet<string> {
  return inState(tier, ['fresh', 'stale', 'failing']);
}

export function fresh(tier: ReadonlyMap<string, string>): ReadonlySet<string> {
  return inState(tier, ['fresh']);
}

function inState(tier: ReadonlyMap<string, string>, states: readonly string[]): ReadonlySet<string> {
  return new Set([...tier].filter(([, state]) => states.includes(state)).map(([text]) => text));
}

/** What the guard of the domain says of itself. */
export interface GuardState {
  readonly breaker: string;
  readonly overloaded: boolean;
  /** Places now. */
  readonly maxConcurrent: number;
}

export async function guardOf({ adminUrl }: ServiceProcess): Promise<GuardState> {
  const response = await fetch(`${adminUrl}/admin/domains`);
  const { domains } = (await response.json()) as { domains: readonly { engine: GuardState }[] };
  const [domain] = domains;
  if (domain === undefined) throw new Error('a process without a domain');
  return domain.engine;
}
