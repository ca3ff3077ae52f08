import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StackPlan } from '../stack/plan.ts';
import { findOwned, signalOwned, waitUntil } from '../stack/process.ts';
import type { Alert, PrometheusClient } from '../stack/prometheus.ts';
import { repeated } from './doctor-provoke.ts';
import { isOver, planNamed, type replicaOf, startDrill, until } from './harness.ts';

/** A line of a rule file that delays an alert or its end, in block style. */
const WAIT = /^( *(?:- )?(?:for|keep_firing_for): *)(["']?)((?:\d+(?:ms|[smhdwy]))+)\2( *(?:#.*)?)$/gm;
const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  y: 365 * 86_400_000,
};

/** The rules with each wait divided: alerts wait for minutes, and a rehearsal takes minutes in all. Nothing else changes. */
export function shortened(rules: string, factor: number): string {
  return rules.replaceAll(WAIT, (_, before: string, quote: string, wait: string, after: string) => {
    const parts = [...wait.matchAll(/(\d+)(ms|[smhdwy])/g)];
    const ms = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
    return `${before}${quote}${Math.round(ms / factor)}ms${quote}${after}`;
  });
}

/** Writes the shortened rules beside Prometheus. @returns the plan with them */
export function withShortenedRules(plan: StackPlan, factor: number): StackPlan {
  const { prometheus } = plan;
  if (prometheus === undefined) throw new Error('a stack without Prometheus');
  mkdirSync(prometheus.folder, { recursive: true });
  const ruleFiles = prometheus.ruleFiles.map((file) => {
    const own = join(prometheus.folder, basename(file));
    writeFileSync(own, shortened(readFileSync(file, 'utf8'), factor));
    return own;
  });
  return { ...plan, prometheus: { ...prometheus, ruleFiles } };
}

interface Provocation {
  readonly alert: string;
  /** `after goods-1 was paused` */
  readonly after: string;
  /** It silences other alerts, so those have to be clear before. */
  readonly silences?: true;
  /** @returns its end */
  readonly begin: () => Promise<() => Promise<unknown>>;
}

export type Provoked = Awaited<ReturnType<typeof provoke>>;

interface Provoking {
  readonly plan: StackPlan;
  readonly domain: string;
  readonly replica: ReturnType<typeof replicaOf>;
}

/** searchd stands still for most of each cycle: an engine that answers, and too late. */
const STILL_MS = 2500;
const RUNNING_MS = 200;

export function provocationsOf({ plan, domain, replica }: Provoking): readonly Provocation[] {
  const [node] = plan.clusters.find((cluster) => cluster.domain === domain)?.nodes ?? [];
  if (node === undefined) throw new Error(`no node stores ${domain}`);
  return [
    {
      alert: 'SerpcacheStoreNodeAway',
      after: `${node.name} was paused (SIGSTOP)`,
      begin: async () => {
        const paused = findOwned(node);
        signalOwned(paused, 'SIGSTOP');
        return async () => signalOwned(paused, 'SIGCONT');
      },
    },
    {
      alert: 'SerpcacheEngineOverloaded',
      after: `searchd stood still for ${STILL_MS / 1000} s of every ${(STILL_MS + RUNNING_MS) / 1000} s`,
      begin: async () => {
        const engine = findOwned(plan.searchd);
        return repeated(RUNNING_MS, async () => {
          signalOwned(engine, 'SIGSTOP');
          await sleep(STILL_MS);
          signalOwned(engine, 'SIGCONT');
        });
      },
    },
    {
      alert: 'SerpcacheDrillLive',
      after: `a drill of ${domain} began`,
      silences: true,
      begin: async () => {
        const canary = await planNamed(replica, 'canary');
        const stages = [{ kind: 'fraction', fraction: 0.25, holdMs: 10_000 }] as const;
        const recovery = { ...canary.recovery, timeoutMs: 15_000 };
        const short = { ...canary, name: 'observe', baselineMs: 5000, stages, recovery, afterMs: 2000 };
        const { id } = await startDrill(replica, { domain }, short);
        return () => until(replica, id, 'its end', isOver);
      },
    },
  ];
}

const POLL_MS = 500;
const FIRE_LIMIT_MS = 60_000;
const CLEAR_LIMIT_MS = 120_000;

/** Begins the fault, waits for its alert, and ends it. Seconds are from the fault, and from its end. */
export async function provoke(prometheus: PrometheusClient, provocation: Provocation) {
  const { alert, after, begin } = provocation;
  const firing = async (isOwn: boolean): Promise<readonly Alert[]> =>
    (await prometheus.alerts()).filter(
      ({ state, labels }) => state === 'firing' && (labels['alertname'] === alert) === isOwn,
    );
  if ((await firing(true)).length > 0) throw new Error(`${alert} fires before its fault`);
  const before = namesOf(await firing(false));
  const end = await begin();
  let first: Alert | undefined;
  let firedSeconds: number | undefined;
  try {
    firedSeconds = await secondsUntil(FIRE_LIMIT_MS, async () => {
      [first] = await firing(true);
      return first !== undefined;
    });
  } finally {
    await end();
  }
  /** Other alerts that fired meanwhile. */
  const beside = namesOf(await firing(false)).filter((name) => !before.includes(name));
  // Windows of a minute keep some alerts after the fault, while the next one begins.
  const clearedSeconds = secondsUntil(CLEAR_LIMIT_MS, async () => (await firing(true)).length === 0);
  // It is awaited later, and may reject before that.
  clearedSeconds.catch(() => undefined);
  return { alert, after, firedSeconds, summary: first?.annotations['summary'] ?? '', beside, clearedSeconds };
}

export function namesOf(alerts: readonly Alert[]): readonly string[] {
  return [...new Set(alerts.map(({ labels }) => labels['alertname'] ?? ''))].sort();
}

/** Undefined: it did not hold in time. */
async function secondsUntil(limitMs: number, holds: () => Promise<boolean>): Promise<number | undefined> {
  const startedMs = performance.now();
  return (await waitUntil(holds, limitMs, POLL_MS)) ? (performance.now() - startedMs) / 1000 : undefined;
}
