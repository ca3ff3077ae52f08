import { resolve as resolvePath } from 'node:path';
import { formatPath, type Path } from '../schema/faults.ts';
import { emptyShare, shareMemory } from './cross-checks.ts';
import type { Config, DomainConfig } from './schema.ts';
import type { ConnectedStoreSettings, DomainSettings, EngineSettings, Settings, StoreSettings } from './settings.ts';
import { type TlsFiles, tlsModeOf } from './tls.ts';

/** The settings of a configuration without faults. */
export function resolveSettings(config: Config, tlsFiles: ReadonlyMap<string, TlsFiles>, cwd: string): Settings {
  const domains = Object.entries(config.domains);
  const { shares } = shareMemory(
    config.memory.maxBytes,
    domains.map(([, domain]) => domain.memory.maxBytes),
  );
  const tlsOf = (path: Path): TlsFiles => tlsFiles.get(formatPath([...path, 'tls'])) ?? {};
  const { cert, key } = tlsOf(['admin']);
  const { signing, tracing: _trust, ...rest } = config;
  const { acknowledged } = config.doctor;
  return {
    ...rest,
    public: { ...config.public, clientHeader: config.public.clientHeader?.toLowerCase() },
    admin: { ...config.admin, tls: cert === undefined || key === undefined ? undefined : { cert, key } },
    control: resolveStore(config.control, tlsOf(['control'])),
    counters: resolveStore(config.counters, tlsOf(['counters'])),
    signing: resolveSigning(signing),
    drills: { ...config.drills, directory: resolvePath(cwd, config.drills.directory) },
    audit: { ...config.audit, file: resolvePath(cwd, config.audit.file) },
    doctor: { ...config.doctor, acknowledged: acknowledged && resolvePath(cwd, acknowledged) },
    domains: domains.map(([name, domain], index) =>
      resolveDomain(name, domain, {
        maxBytes: shares[index] ?? 0,
        tlsOf: (...path) => tlsOf(['domains', name, ...path]),
        cwd,
      }),
    ),
  };
}

function resolveSigning({ key, previousKey, acceptUnsigned }: Config['signing']): Settings['signing'] {
  return key === undefined ? undefined : { key, previousKey, required: !acceptUnsigned };
}

const DEFAULT_PATIENCE_MS = 2000;
/** With a feed, pages are right within a second also where a browser keeps them. */
const CLIENT_MAX_AGE_MS = { withFeed: 1000, without: 30_000 };

/** Values outside a domain's section on which its settings depend. */
interface DomainSurroundings {
  readonly maxBytes: number;
  /** By the path of a connection below the domain. */
  readonly tlsOf: (...path: readonly string[]) => TlsFiles;
  readonly cwd: string;
}

function resolveDomain(
  name: string,
  domain: DomainConfig,
  { maxBytes, tlsOf, cwd }: DomainSurroundings,
): DomainSettings {
  const { lifeboat, ...rest } = domain;
  return {
    ...rest,
    name,
    attributes: Object.entries(domain.attributes).map(([attribute, declared]) => ({ name: attribute, ...declared })),
    context: Object.entries(domain.context).map(([parameter, declared]) => ({ name: parameter, ...declared })),
    memory: { maxBytes, emptyMaxBytes: domain.memory.emptyMaxBytes ?? emptyShare(maxBytes) },
    store: resolveStore(domain.store, tlsOf('store')),
    candidates: Object.entries(domain.candidates).map(([candidate, store]) => ({
      name: candidate,
      settings: resolveConnected(store, tlsOf('candidates', candidate)),
    })),
    freshness: {
      ...domain.freshness,
      clientMaxAgeMs:
        domain.freshness.clientMaxAgeMs ?? CLIENT_MAX_AGE_MS[domain.changes === undefined ? 'without' : 'withFeed'],
    },
    engine: resolveEngine(name, domain.engine, tlsOf('engine'), cwd),
    patienceMs: domain.patienceMs ?? Math.max(DEFAULT_PATIENCE_MS, domain.engine.deadlineMs),
    lifeboat: lifeboat && { ...lifeboat, directory: resolvePath(cwd, lifeboat.directory) },
  };
}

function resolveStore(store: DomainConfig['store'], tlsFiles: TlsFiles): StoreSettings {
  return store.kind === 'none' ? { kind: 'none' } : resolveConnected(store, tlsFiles);
}

function resolveConnected(
  { tls: given, ...store }: DomainConfig['candidates'][string],
  files: TlsFiles,
): ConnectedStoreSettings {
  const tls = given && { ...files, serverName: given.serverName, rejectUnauthorized: given.rejectUnauthorized };
  if (store.kind !== 'standalone') return { ...store, tls };
  const [node] = store.nodes;
  if (node === undefined) throw new Error('a standalone store without a node passed validation');
  return { ...store, nodes: [node], tls };
}

function resolveEngine(name: string, engine: DomainConfig['engine'], files: TlsFiles, cwd: string): EngineSettings {
  const maxConcurrent = engine.maxConcurrent ?? (engine.kind === 'sqlite' ? engine.workers : 8);
  const limits = { maxConcurrent, maxQueued: engine.maxQueued ?? Math.max(64, 8 * maxConcurrent) };
  if (engine.kind === 'sqlite') return { ...engine, ...limits, directory: resolvePath(cwd, engine.directory) };
  const { host, port, mirrors, index, tls, ...rest } = engine;
  return {
    ...rest,
    ...limits,
    endpoints: [{ host, port }, ...mirrors],
    index: index ?? name.replaceAll('-', '_'),
    tls: tls && { ...files, mode: tlsModeOf(engine.kind, tls.mode), serverName: tls.serverName },
  };
}
