import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import type { DomainSettings, EngineSettings } from '../config/settings.ts';
import type { EngineProbe } from '../operations/doctor/doctor.ts';
import type { EngineFacts } from '../operations/doctor/facts.ts';
import type { Clock } from '../runtime.ts';
import { createSphinxProbe } from './sphinx/probe.ts';
import { indexFileOf } from './sqlite/schema.ts';

type OwnSettings = Pick<DomainSettings, 'name' | 'engine'>;
type Sphinx = Exclude<EngineSettings, { readonly kind: 'sqlite' }>;

/** One index of one server, and the domains that are searched in it. */
interface Use {
  readonly endpoint: { readonly host: string; readonly port: number };
  readonly engine: Sphinx;
  readonly domain: string;
}

/** Opens a probe for each index of each search server, and one for each embedded index. */
export function openEngineProbes(
  domains: readonly OwnSettings[],
  { clock }: { readonly clock: Clock },
): readonly EngineProbe[] {
  const uses = domains.flatMap(({ name, engine }): readonly Use[] =>
    engine.kind === 'sqlite' ? [] : engine.endpoints.map((endpoint) => ({ endpoint, engine, domain: name })),
  );
  const byIndex = Map.groupBy(uses, ({ endpoint, engine }) => `${endpoint.host}:${endpoint.port}/${engine.index}`);
  const remote = [...byIndex.values()].flatMap((same): EngineProbe[] => {
    const [first] = same;
    if (first === undefined) return [];
    const { endpoint, engine } = first;
    return [createSphinxProbe({ ...engine, ...endpoint, facts: factsOf(same, first), clock })];
  });
  const embedded = domains.flatMap(({ name, engine }) =>
    engine.kind === 'sqlite' ? [createEmbeddedProbe(name, engine, clock)] : [],
  );
  return [...remote, ...embedded];
}

type Head = Pick<EngineFacts, 'name' | 'domains' | 'kind' | 'endpoint' | 'index' | 'settings'>;

/** The permits of all domains together: they share the server's connections. */
function factsOf(uses: readonly Use[], { endpoint, engine }: Use): Head {
  const domains = uses.map(({ domain }) => domain);
  return {
    name: `engine of ${domains.join(', ')}`,
    domains,
    kind: engine.kind,
    endpoint: `${endpoint.host}:${endpoint.port}`,
    index: engine.index,
    settings: {
      maxConcurrent: uses.reduce((sum, { engine: own }) => sum + own.maxConcurrent, 0),
      deadlineMs: engine.deadlineMs,
      hardDeadlineMs: engine.hardDeadlineMs,
      ...(isIP(endpoint.host) === 0 && endpoint.host !== 'localhost' ? { hostName: endpoint.host } : {}),
    },
  };
}

/** The embedded engine has no server to ask: its file tells its age. */
function createEmbeddedProbe(
  domain: string,
  { directory, maxConcurrent, deadlineMs, hardDeadlineMs }: Extract<EngineSettings, { readonly kind: 'sqlite' }>,
  clock: Clock,
): EngineProbe {
  const file = indexFileOf(directory, domain);
  const none = { skipped: 'the engine is embedded' } as const;
  const head: Head = {
    ...{ name: `engine of ${domain}`, domains: [domain], kind: 'sqlite', endpoint: 'embedded', index: domain },
    settings: { maxConcurrent, deadlineMs, hardDeadlineMs },
  };
  return {
    read: async () => {
      const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
      return {
        ...head,
        ...{ status: none, rttMs: none, indexStatus: none, agents: none, threads: none, maxConnections: none },
        version: { known: `SQLite ${process.versions['sqlite']}` },
        indexAge:
          modified === undefined
            ? { skipped: 'its file is not there' }
            : { known: { seconds: Math.max(0, clock.wallMs() - modified) / 1000, from: 'file' } },
      };
    },
    close: async () => {},
  };
}
