import { CannotRun } from '../labs/kit/programs.ts';
import type { NamedProcess } from '../sample/process-sample.ts';
import type { StoreNode } from '../sample/store-asker.ts';
import { partsOf, readPlan, type StackPlan } from '../stack/plan.ts';
import { type Pins, pin } from '../stack/processors.ts';
import { down, processesOf, up } from '../stack/stack.ts';

/** The local stack, of this run alone. */
export interface LocalStack {
  readonly plan: StackPlan;
  readonly baseUrls: readonly string[];
  readonly adminUrls: readonly string[];
  readonly adminToken?: string;
  readonly stores: readonly StoreNode[];
  /** Processes that run now, with the names of their parts. */
  readonly processes: () => readonly NamedProcess[];
  /** Ends everything and removes it. */
  readonly stop: () => Promise<void>;
}

export interface LocalStackWish {
  readonly replicas: number;
  /** Variables of the stack's file, for each process of serpcache. */
  readonly env: Readonly<Record<string, string>>;
}

export interface StartOptions {
  readonly pins?: Pins;
  readonly say: (text: string) => void;
}

/** @throws CannotRun when a part of a stack runs already: its cache is somebody's, and its figures would be everybody's. */
export function planLocalStack({ replicas, env: wished }: LocalStackWish): StackPlan {
  const read = readPlan(process.env, replicas);
  const running = partsOf(read).filter((part) => processesOf(part).length > 0);
  if (running.length > 0) {
    const names = running.map(({ name }) => name).join(', ');
    throw new CannotRun(
      `a stack runs here already (${names}): end it with \`npm run stack -- down\`, or send the load to it with --base-url`,
    );
  }
  // Whoever set the variable wants it so.
  const env = Object.fromEntries(Object.entries(wished).filter(([name]) => !process.env[name]));
  return { ...read, replicas: read.replicas.map((replica) => ({ ...replica, env: { ...replica.env, ...env } })) };
}

/** @throws when it cannot be started; what was is ended. */
export async function startLocalStack(plan: StackPlan, { pins, say }: StartOptions): Promise<LocalStack> {
  const stop = (): Promise<void> => down(plan);
  try {
    await up(plan, say);
    const pids = plan.replicas.flatMap(processesOf).map(({ pid }) => pid);
    if (pins !== undefined) await pin(pids, pins.serviceCpus);
  } catch (error) {
    await stop();
    throw error;
  }
  const { replicas, adminToken } = plan;
  return {
    plan,
    baseUrls: replicas.map(({ port }) => `http://127.0.0.1:${port}`),
    adminUrls: replicas.map(({ adminPort }) => `http://127.0.0.1:${adminPort}`),
    ...(adminToken === undefined ? {} : { adminToken }),
    stores: plan.clusters.flatMap(({ nodes }) => nodes.map(({ name, port }) => ({ name, host: '127.0.0.1', port }))),
    processes: () => partsOf(plan).flatMap((part) => processesOf(part).map(({ pid }) => ({ name: part.name, pid }))),
    stop,
  };
}
