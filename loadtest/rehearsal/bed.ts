import { resolve } from 'node:path';
import { type AdminClient, createAdminClient } from '../../src/commands/admin-client.ts';
import { documentsOf } from '../stack/corpus.ts';
import { type ReplicaPlan, readPlan, type StackPlan } from '../stack/plan.ts';
import { down, processesOf, startPart, stopPart, up } from '../stack/stack.ts';
import { type Queries, queriesOf } from '../traffic/queries.ts';

/** The local stack with three replicas whose wall clocks disagree by ten seconds, and an operator at each. */
export interface Bed {
  readonly domain: string;
  readonly replicas: readonly Replica[];
  readonly queries: Queries;
  readonly stop: () => Promise<void>;
}

export interface Replica {
  readonly name: string;
  readonly url: string;
  readonly adminUrl: string;
  readonly admin: AdminClient;
  readonly pid: () => number | undefined;
  /** SIGKILL. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

export const CLOCKS_AHEAD_MS = [0, 5000, -5000] as const;
/** The replica that runs another checkout, where one is named: it owns no drill at first, and takes over when the owner ends. */
const OTHER_CHECKOUT = 1;
const REPEATED = 400;

/** @throws when a stack runs already: its cache is somebody's. */
export async function layBed(say: (text: string) => void, checkout?: string): Promise<Bed> {
  const read = readPlan(process.env, CLOCKS_AHEAD_MS.length);
  const running = read.replicas.filter((replica) => processesOf(replica).length > 0);
  if (running.length > 0) throw new Error('a stack runs here already: `npm run stack -- down` ends it');
  const replicas = read.replicas.map((replica, at) => ({
    ...replica,
    clockAheadMs: CLOCKS_AHEAD_MS[at] ?? 0,
    ...(at === OTHER_CHECKOUT && checkout !== undefined ? { checkout: resolve(checkout) } : {}),
    // What lapses by itself must not be taken for what a drill has done.
    env: { ...replica.env, LOCAL_TTL: '30m' },
  }));
  const plan: StackPlan = { ...read, replicas };
  try {
    await up(plan, say);
    const [first] = plan.indexes;
    if (first === undefined) throw new Error('a stack without a domain');
    const documents = await some(documentsOf(first.domain, plan.corpora));
    return {
      domain: first.domain.name,
      replicas: replicas.map((replica) => replicaOf(plan, replica, say)),
      queries: queriesOf(documents, REPEATED),
      stop: () => down(plan),
    };
  } catch (error) {
    await down(plan);
    throw error;
  }
}

function replicaOf(plan: StackPlan, replica: ReplicaPlan, say: (text: string) => void): Replica {
  const { name, port, adminPort } = replica;
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  return {
    adminUrl,
    name,
    url: `http://127.0.0.1:${port}`,
    admin: createAdminClient({
      base: new URL(adminUrl),
      token: plan.adminToken,
      operator: 'rehearsal',
      signal: new AbortController().signal,
    }),
    pid: () => processesOf(replica)[0]?.pid,
    kill: () => stopPart(replica, 0),
    start: () => startPart(plan, replica, say),
  };
}

const SOME_DOCUMENTS = 3000;

async function some<T>(all: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const one of all) if (found.push(one) >= SOME_DOCUMENTS) break;
  return found;
}
