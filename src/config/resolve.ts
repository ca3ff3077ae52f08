import { resolve as resolvePath } from 'node:path';
import { formatPath, type Path } from '../schema/faults.ts';
import { emptyShare, shareMemory } from './cross-checks.ts';
import type { Config, DomainConfig } from './schema.ts';
import type {
  ConnectedStoreSettings,
  DomainSettings,
  EngineSettings,
  Settings,
  StoreSettings,
  TlsSettings,
} from './settings.ts';
import { type TlsFiles, tlsModeOf } from './tls.ts';

/** The settings of a configuration without faults. */
export function resolveSettings(config: Config, tlsFiles: ReadonlyMap<string, TlsFiles>, cwd: string): Settings {
  const domains = Object.entries(config.domains);
  const { shares } = shareMemory(
    config.memory.maxBytes,
    domains.map(([, domain]) => domain.memory.maxBytes),
  );
  const { clientHeader } = config.public;
  const { tls: _, ...admin } = config.admin;
  const tlsOf = (path: Path): TlsFiles => tlsFiles.get(formatPath([...path, 'tls'])) ?? {};
  const { cert, key } = tlsOf(['admin']);
  const { signing, tracing: _trust, ...rest } = config;
  return {
    ...rest,
    public: {
      ...config.public,
      ...(clientHeader === undefined ? {} : { clientHeader: clientHeader.toLowerCase() }),
    },
    admin: { ...admin, ...(cert === undefined || key === undefined ? {} : { tls: { cert, key } }) },
    control: resolveStore(config.control, tlsOf(['control'])),
    counters: resolveStore(config.counters, tlsOf(['counters'])),
    ...resolveSigning(signing),
    drills: { ...config.drills, directory: resolvePath(cwd, config.drills.directory) },
    audit: { ...config.audit, file: resolvePath(cwd, config.audit.file) },
    doctor: {
      ...config.doctor,
      ...(config.doctor.acknowledged === undefined
        ? {}
        : { acknowledged: resolvePath(cwd, config.doctor.acknowledged) }),
    },
    domains: domains.map(([name, domain], index) =>
      resolveDomain(name, domain, {
        maxBytes: shares[index] ?? 0,
        tlsOf: (...path) => tlsOf(['domains', name, ...path]),
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
    engine: resolveEngine(name, domain.engine, tlsOf('engine'), cwd),
    patienceMs: domain.patienceMs ?? Math.max(DEFAULT_PATIENCE_MS, domain.engine.deadlineMs),
    ...(lifeboat === undefined ? {} : { lifeboat: { ...lifeboat, directory: resolvePath(cwd, lifeboat.directory) } }),
    disabledDefences: [],
  };
}

function resolveStore(store: DomainConfig['store'], tlsFiles: TlsFiles): StoreSettings {
  return store.kind === 'none' ? { kind: 'none' } : resolveConnected(store, tlsFiles);
}

function resolveConnected(store: DomainConfig['candidates'][string], tlsFiles: TlsFiles): ConnectedStoreSettings {
  const { shared, tls, ...rest } = store;
  const extras = {
    ...(shared ? ({ shared } as const) : {}),
    ...(tls === undefined
      ? {}
      : { tls: { ...tlsFiles, ...serverNameOf(tls), rejectUnauthorized: tls.rejectUnauthorized } }),
  };
  if (rest.kind !== 'standalone') return { ...rest, ...extras };
  const [node] = rest.nodes;
  if (node === undefined) throw new Error('a standalone store without a node passed validation');
  return { ...rest, nodes: [node], ...extras };
}

function serverNameOf({ serverName }: { readonly serverName?: string }): Pick<TlsSettings, 'serverName'> {
  return serverName === undefined ? {} : { serverName };
}

function resolveEngine(name: string, engine: DomainConfig['engine'], tlsFiles: TlsFiles, cwd: string): EngineSettings {
  const maxConcurrent = engine.maxConcurrent ?? (engine.kind === 'sqlite' ? engine.workers : 8);
  const limits = { maxConcurrent, maxQueued: engine.maxQueued ?? Math.max(64, 8 * maxConcurrent) };
  if (engine.kind === 'sqlite') return { ...engine, ...limits, directory: resolvePath(cwd, engine.directory) };
  const { host, port, mirrors, index, tls, ...rest } = engine;
  return {
    ...rest,
    ...limits,
    endpoints: [{ host, port }, ...mirrors],
    index: index ?? name.replaceAll('-', '_'),
    ...(tls === undefined
      ? {}
      : { tls: { mode: tlsModeOf(engine.kind, tls.mode), ...serverNameOf(tls), ...tlsFiles } }),
  };
}
