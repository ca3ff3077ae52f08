import { resolve as resolvePath } from 'node:path';
import { emptyShare, shareMemory } from './cross-checks.ts';
import { formatPath, type Path } from './faults.ts';
import type { Config, DomainConfig } from './schema.ts';
import type { DomainSettings, EngineSettings, Settings, StoreSettings, TlsSettings } from './settings.ts';
import { type TlsFiles, tlsModeOf } from './tls.ts';

/** The settings of a configuration without faults. */
export function resolveSettings(config: Config, tlsFiles: ReadonlyMap<string, TlsFiles>, cwd: string): Settings {
  const domains = Object.entries(config.domains);
  const { shares } = shareMemory(
    config.memory.maxBytes,
    domains.map(([, domain]) => domain.memory.maxBytes),
  );
  const { drain, maxLoopDelay, clientHeader, missBudget, ...listener } = config.public;
  const { token, tls: _, ...admin } = config.admin;
  const tlsOf = (path: Path): TlsFiles => tlsFiles.get(formatPath([...path, 'tls'])) ?? {};
  const { cert, key } = tlsOf(['admin']);
  return {
    public: {
      ...listener,
      drainMs: drain,
      maxLoopDelayMs: maxLoopDelay,
      ...(clientHeader === undefined ? {} : { clientHeader: clientHeader.toLowerCase() }),
      ...(missBudget === undefined ? {} : { missBudget }),
    },
    admin: {
      ...admin,
      ...(token === undefined ? {} : { token }),
      ...(cert === undefined || key === undefined ? {} : { tls: { cert, key } }),
    },
    log: config.log,
    memory: config.memory,
    compression: config.compression,
    control: resolveStore(config.control, tlsOf(['control'])),
    counters: resolveStore(config.counters, tlsOf(['counters'])),
    ...resolveSigning(config.signing),
    drills: {
      directory: resolvePath(cwd, config.drills.directory),
      keep: config.drills.keep,
      leaseMs: config.drills.lease,
    },
    audit: { ...config.audit, file: resolvePath(cwd, config.audit.file) },
    domains: domains.map(([name, domain], index) =>
      resolveDomain(name, domain, {
        maxBytes: shares[index] ?? 0,
        storeTls: tlsOf(['domains', name, 'store']),
        engineTls: tlsOf(['domains', name, 'engine']),
        cwd,
      }),
    ),
  };
}

function resolveSigning({ key, previousKey, acceptUnsigned }: Config['signing']): Pick<Settings, 'signing'> {
  if (key === undefined) return {};
  return { signing: { key, ...(previousKey === undefined ? {} : { previousKey }), required: !acceptUnsigned } };
}

const DEFAULT_PATIENCE_MS = 2000;

/** Values outside a domain's section on which its settings depend. */
interface DomainSurroundings {
  readonly maxBytes: number;
  readonly storeTls: TlsFiles;
  readonly engineTls: TlsFiles;
  readonly cwd: string;
}

function resolveDomain(
  name: string,
  domain: DomainConfig,
  { maxBytes, storeTls, engineTls, cwd }: DomainSurroundings,
): DomainSettings {
  const { freshness } = domain;
  return {
    name,
    attributes: Object.entries(domain.attributes).map(([attribute, rest]) => ({ name: attribute, ...rest })),
    context: Object.entries(domain.context).map(([parameter, rest]) => ({ name: parameter, ...rest })),
    memory: { maxBytes, emptyMaxBytes: domain.memory.emptyMaxBytes ?? emptyShare(maxBytes) },
    store: resolveStore(domain.store, storeTls),
    engine: resolveEngine(name, domain.engine, engineTls, cwd),
    patienceMs: domain.patience ?? Math.max(DEFAULT_PATIENCE_MS, domain.engine.deadline),
    freshness: {
      ttlMs: freshness.ttl,
      staleWhileRevalidateMs: freshness.staleWhileRevalidate,
      staleIfErrorMs: freshness.staleIfError,
      emptyTtlMs: freshness.emptyTtl,
      degradedTtlMs: freshness.degradedTtl,
      clientMaxAgeMs: freshness.clientMaxAge,
      jitter: freshness.jitter,
    },
    maxEntryBytes: domain.maxEntryBytes,
    maxLeaseWaiters: domain.maxLeaseWaiters,
    popularity: { maxQueries: domain.popularity.maxQueries, halfLifeMs: domain.popularity.halfLife },
    reseedPerSecond: domain.reseedPerSecond,
    ...(domain.lifeboat === undefined ? {} : { lifeboat: resolveLifeboat(domain.lifeboat, cwd) }),
    disabledDefences: domain.without,
  };
}

function resolveStore(store: DomainConfig['store'], tlsFiles: TlsFiles): StoreSettings {
  if (store.kind === 'none') return { kind: 'none' };
  const { deadline, connectTimeout, socketTimeout, refresh, shared: _, tls, ...rest } = store;
  const connection = {
    ...(tls === undefined ? {} : { tls: resolveTls(tls, tlsFiles) }),
    deadlineMs: deadline,
    connectTimeoutMs: connectTimeout,
    socketTimeoutMs: socketTimeout,
    refreshMs: refresh,
  };
  if (rest.kind !== 'standalone') return { ...rest, ...connection };
  const [node] = rest.nodes;
  if (node === undefined) throw new Error('a standalone store without a node passed validation');
  return { ...rest, nodes: [node], ...connection };
}

function resolveTls(
  tls: NonNullable<Exclude<DomainConfig['store'], { kind: 'none' }>['tls']>,
  files: TlsFiles,
): TlsSettings {
  return { ...files, ...serverNameOf(tls), rejectUnauthorized: tls.rejectUnauthorized };
}

function serverNameOf({ serverName }: { readonly serverName?: string }): Pick<TlsSettings, 'serverName'> {
  return serverName === undefined ? {} : { serverName };
}

function resolveLifeboat({ directory, deadline, ...rest }: NonNullable<DomainConfig['lifeboat']>, cwd: string) {
  return { ...rest, directory: resolvePath(cwd, directory), deadlineMs: deadline };
}

function resolveEngine(name: string, engine: DomainConfig['engine'], tlsFiles: TlsFiles, cwd: string): EngineSettings {
  const maxConcurrent = engine.maxConcurrent ?? (engine.kind === 'sqlite' ? engine.workers : 8);
  const limits = {
    deadlineMs: engine.deadline,
    hardDeadlineMs: engine.hardDeadline,
    maxConcurrent,
    limit: engine.limit,
    maxQueued: engine.maxQueued ?? Math.max(64, 8 * maxConcurrent),
    snippetLength: engine.snippetLength,
  };
  if (engine.kind === 'sqlite') {
    const { kind, directory, workers, demo } = engine;
    return { kind, directory: resolvePath(cwd, directory), workers, demo, ...limits };
  }
  const { kind, host, port, mirrors, index, ranker, user, password, idAttribute, connectTimeout, maxMatches } = engine;
  const { tls } = engine;
  return {
    kind,
    endpoints: [{ host, port }, ...mirrors],
    index: index ?? name.replaceAll('-', '_'),
    ranker,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls: { mode: tlsModeOf(kind, tls.mode), ...serverNameOf(tls), ...tlsFiles } }),
    ...(idAttribute === undefined ? {} : { idAttribute }),
    connectTimeoutMs: connectTimeout,
    maxMatches,
    ...limits,
  };
}
