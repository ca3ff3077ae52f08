import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoDocuments } from '../../src/catalogue/demo.ts';
import { readCatalogue } from '../../src/catalogue/read.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';
import type { Document, SearchDomain } from '../../src/search/domain.ts';
import { deployedRules } from './prometheus.ts';
import type { Flavour } from './redis-node.ts';

/** The parts of the local stack, read from the configuration file that serpcache is started with. */
export type StackPlan = ReturnType<typeof readPlan>;

export interface ReplicaPlan extends PartPlan {
  readonly adminPort: number;
  /** Variables it is started with beside its ports. */
  readonly env: Readonly<Record<string, string>>;
  /** Its wall clock is ahead of the machine's by this time: 0 except in a rehearsal, where the clocks disagree. */
  readonly clockAheadMs: number;
  /** Another checkout of serpcache to run, such as the released version; this one when absent. */
  readonly checkout?: string;
  /** The path of another configuration than the plan's: a rehearsal declares a candidate store, or has proxies in between. */
  readonly config?: string;
}

export interface PrometheusPlan extends PartPlan {
  /** A rehearsal shortens the waits of the rules. */
  readonly ruleFiles: readonly string[];
}

export type ClusterPlan = ReturnType<typeof clusterOf>;

/** One server. Its working directory is a folder of its own, which is how it is found again. */
export interface PartPlan {
  readonly name: string;
  readonly program: string;
  readonly port: number;
  readonly adminPort?: number;
  readonly folder: string;
  readonly logFile: string;
}

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'data', 'stack');

/** The corpora beside the project; without them the demo catalogue is indexed. */
const CORPORA = join(ROOT, '..', 'shared', 'data');

/** The first domain runs on Redis, the second on Valkey: the same service over both. */
const FLAVOURS: readonly Flavour[] = ['redis', 'valkey'];

/** More replicas than this gain nothing on two cores. */
export const MAX_REPLICAS = 5;

/**
 * @param replicas of serpcache; absent: the number that was started last, or one.
 * @param engine absent: what the indexes were built with, or Sphinx.
 * @param isWatched by a Prometheus; absent: as before.
 * @throws ConfigError, or Error when the file describes something this stack cannot start.
 */
export function readPlan(
  env: Readonly<Record<string, string | undefined>>,
  replicas = startedReplicas(),
  engine: string | undefined = builtEngine(),
  isWatched = existsSync(join(FOLDER, PROMETHEUS)),
) {
  const corpora = existsSync(join(CORPORA, 'goods.ndjson.gz')) ? CORPORA : undefined;
  const config = corpora === undefined ? 'deploy/local-demo.yaml' : 'deploy/local.yaml';
  const chosen = engine === undefined ? {} : { LOCAL_ENGINE: engine };
  const settings = loadSettings({ env: { ...env, ...chosen, SERPCACHE_CONFIG: config }, cwd: ROOT });
  const { control, domains, admin } = settings;
  const controlNode = control.kind === 'standalone' ? control.nodes[0] : undefined;
  if (controlNode === undefined || !('port' in controlNode))
    throw new Error(`${config}: the control store is not one server with a port`);
  const indexes = domains.map(({ name, attributes, context, engine }) => {
    if (engine.kind === 'sqlite') throw new Error(`${config}: the engine of ${name} is neither sphinx nor manticore`);
    return {
      domain: { name, attributes, context, answerProfile: '' },
      index: engine.index,
      kind: engine.kind,
      port: engine.endpoints[0].port,
    };
  });
  const [first] = indexes;
  if (first === undefined || indexes.some(({ port, kind }) => port !== first.port || kind !== first.kind)) {
    throw new Error(`${config}: all domains must use one searchd`);
  }
  return {
    /** The file, relative to the project. */
    config,
    /** Undefined: the demo catalogue. */
    corpora,
    /** Everything the stack writes; gone after `down`. */
    folder: FOLDER,
    clusters: domains.map((domain, index) => clusterOf(config, domain, FLAVOURS[index % FLAVOURS.length] ?? 'redis')),
    /** The store of control documents and counters: one small server that evicts nothing. */
    control: storeOf('control', 'redis', controlNode.port, join(FOLDER, 'control')),
    searchd: partOf('searchd', 'searchd', first.port),
    /** Neither server can read the other's indexes. */
    engine: first.kind,
    indexes,
    /** At least one. They share everything above; each has a folder, and so drill reports and an audit, of its own. */
    replicas: Array.from(
      { length: replicas },
      (_, at): ReplicaPlan => ({
        ...partOf(replicaName(at), 'node', settings.public.port + at * PORTS_APART),
        adminPort: admin.port + at * PORTS_APART,
        env: { LOCAL_ENGINE: first.kind },
        clockAheadMs: 0,
      }),
    ),
    /** Scrapes the replicas, and evaluates the rules of deploy/prometheus. */
    prometheus: isWatched ? prometheusOf(env) : undefined,
    /** The admin token of every replica; `up` writes it to `TOKEN_FILE`. */
    adminToken: admin.token ?? writtenToken() ?? newToken(),
  };
}

function partOf(name: string, program: string, port: number): PartPlan {
  const folder = join(FOLDER, name);
  return { name, program, port, folder, logFile: join(folder, `${name}.log`) };
}

function storeOf(name: string, flavour: Flavour, port: number, folder: string): PartPlan {
  return { name, program: `${flavour}-server`, port, folder, logFile: join(folder, 'server.log') };
}

const PROMETHEUS = 'prometheus';
const PROMETHEUS_PORT = 9090;

function prometheusOf(env: Readonly<Record<string, string | undefined>>): PrometheusPlan {
  const port = Number(env['PROMETHEUS_PORT'] || PROMETHEUS_PORT);
  return { ...partOf(PROMETHEUS, 'prometheus', port), ruleFiles: deployedRules() };
}

function clusterOf(config: string, { name, store }: Settings['domains'][number], flavour: Flavour) {
  if (store.kind !== 'cluster') throw new Error(`${config}: the store of ${name} is not a cluster`);
  const folder = join(FOLDER, name);
  const nodes = store.nodes.map(({ port }, at) =>
    storeOf(`${name}-${at + 1}`, flavour, port, join(folder, String(port))),
  );
  return { domain: name, flavour, folder, nodes };
}

/** Readable by its owner alone; gone after `down`. A token in a file of the project would be public. */
export const TOKEN_FILE = join(FOLDER, 'admin-token');

function writtenToken(): string | undefined {
  return existsSync(TOKEN_FILE) ? readFileSync(TOKEN_FILE, 'utf8').trim() : undefined;
}

/** 192 random bits. */
export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/** 8080 and 8081, 8090 and 8091, … */
const PORTS_APART = 10;

function replicaName(at: number): string {
  return at === 0 ? 'serpcache' : `serpcache-${at + 1}`;
}

/** Holds the name of the server. Written when searchd has answered from its indexes: an interrupted build is repeated. */
export const BUILT_FILE = join(FOLDER, 'searchd', 'built');

/** The server that the indexes of the stack were built with. */
export function builtEngine(): string | undefined {
  return existsSync(BUILT_FILE) ? readFileSync(BUILT_FILE, 'utf8') : undefined;
}

/** A replica that was started once has a folder until `down`. */
function startedReplicas(): number {
  let count = 1;
  while (count < MAX_REPLICAS && existsSync(join(FOLDER, replicaName(count)))) count += 1;
  return count;
}

/** In the order of their start; `down` ends them in the reverse order. */
export function partsOf(plan: StackPlan): readonly PartPlan[] {
  const { clusters, control, searchd, replicas, prometheus } = plan;
  const nodes = clusters.flatMap((cluster) => cluster.nodes);
  return [...nodes, control, searchd, ...replicas, ...(prometheus === undefined ? [] : [prometheus])];
}

/** The corpora of each domain, as files beside the project. */
const FILES: Readonly<Record<string, readonly { readonly file: string; readonly idSuffix: string }[]>> = {
  goods: [{ file: 'goods.ndjson.gz', idSuffix: '' }],
  packages: [
    { file: 'packages.ndjson.gz', idSuffix: '' },
    // The same packages described in Russian: the suffix keeps their ids apart.
    { file: 'packages-ru.ndjson.gz', idSuffix: '.ru' },
  ],
};

/** The documents of a domain of the local stack: from the corpora in `folder`, or of the demo without one. */
export async function* documentsOf(domain: SearchDomain, folder: string | undefined): AsyncGenerator<Document> {
  if (folder === undefined) return yield* demoDocuments(domain.name);
  const files = FILES[domain.name];
  if (files === undefined) throw new Error(`there is no corpus for the domain ${domain.name}`);
  for (const { file, idSuffix } of files) {
    for await (const document of readCatalogue(join(folder, file), { attributes: domain.attributes })) {
      yield idSuffix === '' ? document : { ...document, id: `${document.id}${idSuffix}` };
    }
  }
}
