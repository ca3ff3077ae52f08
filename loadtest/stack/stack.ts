import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installParts } from './parts.ts';
import {
  BUILT_FILE,
  builtEngine,
  type ClusterPlan,
  documentsOf,
  type PartPlan,
  partsOf,
  type ReplicaPlan,
  type StackPlan,
  TOKEN_FILE,
} from './plan.ts';
import { accepts, endOwned, findOwned, signalOwned, startProcess } from './process.ts';
import { configurePrometheus, startPrometheus } from './prometheus.ts';
import { startCluster } from './redis.ts';
import { type Flavour, startRedisNode } from './redis-node.ts';
import { MANTICORE_NEEDS, manticoreFolder, type SearchServer, SPHINX, startSearchd } from './sphinx.ts';

type Say = (text: string) => void;

const ROOT = join(import.meta.dirname, '..', '..');

/** Starts the parts that do not run, and leaves the others as they are. @throws with one clear line; `down` cleans up. */
export async function up(plan: StackPlan, say: Say): Promise<void> {
  const built = builtEngine() ?? plan.engine;
  if (built !== plan.engine) {
    throw new Error(
      `the indexes of this stack are of ${built}: \`npm run stack -- down\` first, then up with ${plan.engine}`,
    );
  }
  const wanted = [
    'redis',
    'valkey',
    ...(serverOf(plan) === SPHINX ? ['sphinx'] : []),
    ...(plan.prometheus === undefined ? [] : ['prometheus']),
  ];
  installParts(wanted);
  for (const { nodes, folder } of plan.clusters.filter((cluster) => !isFormed(cluster))) await remove(nodes, folder);
  await checkPorts(partsOf(plan).filter((part) => !isRunning(part)));
  mkdirSync(plan.folder, { recursive: true });
  writeFileSync(TOKEN_FILE, `${plan.adminToken}\n`, { mode: 0o600 });
  const begun = await Promise.allSettled([
    ...plan.clusters.map((cluster) => upCluster(cluster, say)),
    upControl(plan, say),
    upSearchd(plan, say),
  ]);
  for (const one of begun) if (one.status === 'rejected') throw one.reason;
  for (const replica of plan.replicas) await upReplica(plan, replica, say);
  await upPrometheus(plan, say);
}

export async function endReplicas(replicas: readonly ReplicaPlan[]): Promise<void> {
  for (const replica of replicas) await remove([replica], replica.folder);
}

/** Ends everything, the service first so that it can drain, and removes the stack's folder. */
export async function down(plan: StackPlan): Promise<void> {
  await remove(partsOf(plan).toReversed(), plan.folder);
  // `data` is removed too when the stack was its only content.
  const data = dirname(plan.folder);
  if (existsSync(data) && readdirSync(data).length === 0) rmdirSync(data);
}

export async function startPart(plan: StackPlan, part: PartPlan, say: Say): Promise<void> {
  if (isRunning(part)) return;
  await checkPorts([part]);
  const replica = plan.replicas.find((each) => each === part);
  if (replica !== undefined) return upReplica(plan, replica, say);
  if (part === plan.control) return upControl(plan, say);
  if (part === plan.searchd) return upSearchd(plan, say);
  if (part === plan.prometheus) return upPrometheus(plan, say);
  const cluster = plan.clusters.find(({ nodes }) => nodes.includes(part));
  if (cluster === undefined || !isFormed(cluster)) throw new Error(`${part.name} has no cluster yet: run \`up\` first`);
  await startNode(cluster.flavour, part, say);
}

export async function stopPart(part: PartPlan, graceMs?: number): Promise<void> {
  await endOwned(findOwned(part), graceMs);
}

async function remove(parts: readonly PartPlan[], folder: string): Promise<void> {
  for (const part of parts) await stopPart(part);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function isRunning(part: PartPlan): boolean {
  return findOwned(part).length > 0;
}

async function upCluster(cluster: ClusterPlan, say: Say): Promise<void> {
  if (isFormed(cluster)) {
    for (const node of cluster.nodes) await startNode(cluster.flavour, node, say);
    return;
  }
  say(`${cluster.domain}: a ${cluster.flavour} cluster of ${cluster.nodes.length}`);
  await startCluster({
    flavour: cluster.flavour,
    masters: cluster.nodes.length,
    ports: cluster.nodes.map((node) => node.port),
    directory: cluster.folder,
    detached: true,
  });
  writeFileSync(formedFile(cluster), '');
}

async function startNode(flavour: Flavour, part: PartPlan, say: Say, config: readonly string[] = []): Promise<void> {
  if (isRunning(part)) return;
  say(`${part.name}: starting`);
  await startRedisNode({ flavour, port: part.port, directory: part.folder, config, detached: true });
}

function upControl({ control }: StackPlan, say: Say): Promise<void> {
  return startNode('redis', control, say, ['maxmemory 64mb', 'maxmemory-policy noeviction']);
}

/** Written when the nodes have met: an `up` that was interrupted before leaves nothing worth keeping. */
function formedFile(cluster: ClusterPlan): string {
  return join(cluster.folder, 'formed');
}

function isFormed(cluster: ClusterPlan): boolean {
  return existsSync(formedFile(cluster));
}

async function upSearchd(plan: StackPlan, say: Say): Promise<void> {
  const { searchd, indexes, corpora, engine } = plan;
  if (isRunning(searchd)) return;
  const built = builtEngine() !== undefined;
  say(built ? 'searchd: starting' : `searchd: indexing ${indexes.map(({ domain }) => domain.name).join(' and ')}`);
  const configFile = join(searchd.folder, 'sphinx.conf');
  await startSearchd({
    directory: searchd.folder,
    from: built
      ? { configFile, port: searchd.port }
      : { domains: indexes.map((index) => ({ ...index, documents: documentsOf(index.domain, corpora) })) },
    port: searchd.port,
    built,
    server: serverOf(plan),
    detached: true,
  });
  writeFileSync(BUILT_FILE, engine);
}

function serverOf({ engine }: StackPlan): SearchServer {
  if (engine === 'sphinx') return SPHINX;
  const folder = manticoreFolder();
  if (folder === undefined) throw new Error(`there is no Manticore here: ${MANTICORE_NEEDS}`);
  return { dialect: 'manticore', folder };
}

async function upReplica(plan: StackPlan, replica: ReplicaPlan, say: Say): Promise<void> {
  if (isRunning(replica)) return;
  mkdirSync(replica.folder, { recursive: true });
  const clockFile = join(replica.folder, 'clock-step-ms');
  writeFileSync(clockFile, String(replica.clockAheadMs));
  say(`${replica.name}: starting`);
  await startProcess({
    name: replica.name,
    command: process.execPath,
    args: [
      `--import=${join(import.meta.dirname, 'stepped-clock.mjs')}`,
      join(replica.checkout ?? ROOT, 'src', 'main.ts'),
    ],
    cwd: replica.folder,
    logFile: replica.logFile,
    env: {
      ...replica.env,
      SERPCACHE_CONFIG: replica.config ?? join(ROOT, plan.config),
      CLOCK_STEP_FILE: clockFile,
      PORT: String(replica.port),
      ADMIN_PORT: String(replica.adminPort),
      ADMIN_TOKEN: plan.adminToken,
    },
    ready: async () => (await fetch(`http://127.0.0.1:${replica.port}/readyz`)).ok,
    detached: true,
  });
}

async function upPrometheus({ prometheus, replicas }: StackPlan, say: Say): Promise<void> {
  if (prometheus === undefined) return;
  const targets = replicas.map(({ adminPort }) => `127.0.0.1:${adminPort}`);
  if (isRunning(prometheus)) {
    // The number of replicas may be another one than before.
    configurePrometheus({ ...prometheus, targets });
    signalOwned(findOwned(prometheus), 'SIGHUP');
    return;
  }
  say('prometheus: starting');
  await startPrometheus({ ...prometheus, targets }, true);
}

/** A node's bus listens 10000 above its port. */
async function checkPorts(parts: readonly PartPlan[]): Promise<void> {
  const claims = parts.flatMap(({ name, program, port, adminPort }) => [
    { name, port },
    ...(adminPort === undefined ? [] : [{ name: `${name}'s admin`, port: adminPort }]),
    ...(/redis|valkey/.test(program) ? [{ name: `${name}'s bus`, port: port + 10_000 }] : []),
  ]);
  const taken: string[] = [];
  for (const { name, port } of claims) if (await accepts(port)) taken.push(`${port} (${name})`);
  if (taken.length > 0) {
    throw new Error(`somebody else listens on ${taken.join(', ')}: end it, or choose other ports (see \`help\`)`);
  }
}
