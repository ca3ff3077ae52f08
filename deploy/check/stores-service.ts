import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisStack } from '../../loadtest/stack/redis.ts';
import { readOnce } from '../../src/cache/store.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';
import { CHECKS } from '../../src/operations/doctor/checks/checks.ts';
import { createHostReader } from '../../src/operations/doctor/collect/host.ts';
import { createExaminer } from '../../src/operations/doctor/create-doctor.ts';
import { createJudge, diagnose } from '../../src/operations/doctor/judge.ts';
import type { Report } from '../../src/operations/doctor/report.ts';
import { systemClock, waitFor } from '../../src/runtime.ts';
import type { RedisStore } from '../../src/stores/redis/store.ts';
import { openStoreProbes } from '../../src/stores/store-probes.ts';
import { createStores } from '../../src/stores/stores.ts';
import { hold } from './checker.ts';
import { pathOf, textOf } from './stores-windows.ts';

/** serpcache's side of the servers: a configuration as an operator writes it, its stores, and the doctor. */

const CONNECT_LIMIT_MS = 10_000;
const TTL_MS = 600_000;
const DEADLINE_MS = 1000;
const STORE_CHECKS = CHECKS.filter(({ area }) => area === 'store');
/** Stalls of the machine on which the check runs. The files cannot cause them. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(['store-latency-event', 'store-slow-commands']);

/** A password for each user of a file, new at each run. */
type Passwords = ReadonlyMap<string, string>;

/**
 * Writes a file of users as the README says: each gets a password and is switched on, but for `default`.
 * @param given passwords of users that stand in another file as well.
 * @returns the path, and the passwords of both.
 */
export function openUsers(
  file: string,
  folder: string,
  given: Passwords = new Map(),
): { readonly path: string; readonly passwords: Passwords } {
  const passwords = new Map(given);
  const text = textOf(file).replaceAll(/^user (\S+) off/gm, (line, name: string) => {
    if (name === 'default') return line;
    const password = passwords.get(name) ?? randomBytes(16).toString('hex');
    passwords.set(name, password);
    return `user ${name} on #${createHash('sha256').update(password).digest('hex')}`;
  });
  const path = join(folder, file);
  writeFileSync(path, text, { mode: 0o600 });
  return { path, passwords };
}

export function passwordOf(passwords: Passwords, user: string): string {
  const password = passwords.get(user);
  if (password === undefined) throw new Error(`deploy/redis: there is no user ${user}`);
  return password;
}

/** The credentials of serpcache and of its doctor, as members of a store in a configuration. */
export function credentialsOf(passwords: Passwords) {
  return {
    username: 'serpcache',
    password: passwordOf(passwords, 'serpcache'),
    doctor: { username: 'serpcache-doctor', password: passwordOf(passwords, 'serpcache-doctor') },
  };
}

/** Lines of a data node: its users, and the one as which it copies from a master. */
export function userLines(users: { readonly path: string; readonly passwords: Passwords }): readonly string[] {
  return [
    `aclfile ${users.path}`,
    'masteruser replication',
    `masterauth ${passwordOf(users.passwords, 'replication')}`,
  ];
}

export function includeLine(file: string): string {
  return `include ${pathOf(file)}`;
}

/** The user of `command`. */
export function operatorOf(passwords: Passwords) {
  return { username: 'operator', password: passwordOf(passwords, 'operator') };
}

export function addressesOf({ nodes }: Pick<RedisStack, 'nodes'>): readonly string[] {
  return nodes.map(({ address }) => address);
}

/** Reads a configuration with one domain, `goods`, through serpcache's own reader. */
export function settingsOf(
  folder: string,
  { store, control }: { readonly store: object; readonly control?: object },
): Settings {
  const file = join(folder, `serpcache-${randomBytes(4).toString('hex')}.yaml`);
  const engine = { kind: 'sphinx', host: '127.0.0.1', port: 9306, index: 'goods' };
  writeFileSync(
    file,
    JSON.stringify({
      control,
      domains: { goods: { store, engine } },
    }),
  );
  return loadSettings({ env: { SERPCACHE_CONFIG: file }, cwd: folder });
}

export interface OpenedStores {
  readonly store: RedisStore;
  readonly stores: ReturnType<typeof createStores>;
  readonly close: () => Promise<void>;
}

/** Opens the stores of the settings; resolves when `nodes` of the domain's store are connected. */
export async function openStores(settings: Settings, nodes: number): Promise<OpenedStores> {
  const faults: string[] = [];
  const stores = createStores(settings, {
    clock: systemClock,
    random: Math.random,
    observeStore: (name, event) => {
      if (event.kind === 'connection' && event.state === 'failed') faults.push(`${name}: ${event.detail}`);
    },
  });
  const [domain] = settings.domains;
  const store = domain === undefined ? undefined : stores.open(domain.name, domain.store);
  if (store === undefined) throw new Error('the configuration has no store');
  const close = async (): Promise<void> => {
    await store.close();
    await stores.close();
  };
  const connected = (): number => store.nodes().filter((node) => node.connected).length;
  await waitFor(() => connected() >= nodes, CONNECT_LIMIT_MS, systemClock);
  if (connected() >= nodes) return { store, stores, close };
  await close();
  throw new Error(`serpcache connected to ${connected()} of ${nodes} nodes: ${faults.at(-1) ?? 'no answer'}`);
}

/** Uses every sort of command that serpcache sends. @throws when one is refused or fails. */
export async function useStore({ store, stores }: OpenedStores): Promise<void> {
  const value = Buffer.from('a page');
  const entryOf = (version: number, at: number): string => `sc${version}:goods:{${'k'.repeat(20)}${at}}`;
  const names = Array.from({ length: 64 }, (_, at) => entryOf(1 + (at % 2), at));
  for (const name of names) {
    const wrote = await store.write(name, value, TTL_MS);
    hold(wrote.kind === 'stored', `SET ${name}: ${JSON.stringify(wrote)}`);
  }
  const read = await store.readMany(names, DEADLINE_MS);
  hold(
    read.every((one) => one.kind === 'value' && value.equals(one.value)),
    `64 pages were written, and read as ${JSON.stringify(read.find(({ kind }) => kind !== 'value'))}`,
  );
  const [seeded] = await store.seedMany([{ name: entryOf(1, 0), value, ttlMs: TTL_MS }]);
  hold(seeded?.kind === 'kept', `SET NX of a stored page: ${JSON.stringify(seeded)}`);
  const lease = { entry: entryOf(1, 99), lease: `sc1:goods:lease:{${'k'.repeat(20)}99}` };
  const taken = await store.leases.take(lease, 'token', TTL_MS, DEADLINE_MS);
  hold(taken.kind === 'taken', `a lease: ${JSON.stringify(taken)}`);
  const released = await store.leases.writeAndRelease(lease, 'token', value, TTL_MS);
  hold(released.kind === 'stored', `a write under a lease: ${JSON.stringify(released)}`);
  const beat = await store.beat('process-1', TTL_MS, DEADLINE_MS);
  hold(beat.kind === 'fleet' && beat.live === 1, `a heartbeat: ${JSON.stringify(beat)}`);
  hold((await store.epochs(DEADLINE_MS)).length > 0, 'no part of the store gave its epoch');
  const { control } = { control: stores.controlOf(store).store };
  const swapped = await control.swap('goods', undefined, { tag: '1-a', value }, DEADLINE_MS);
  hold(swapped.kind === 'swapped', `a control document: ${JSON.stringify(swapped)}`);
  hold(
    await (stores.counters ?? store.counters).add('goods', [{ search: 'q=a', count: 1 }], DEADLINE_MS),
    'counts of popularity were refused',
  );
}

/**
 * The doctor's checks of stores, while the store is used. @throws with the findings above info, or when the doctor's user
 * lacks a right.
 * @returns how many checks were made.
 */
export async function examine(settings: Settings, { store }: Pick<OpenedStores, 'store'>): Promise<number> {
  const [clock, random] = [systemClock, Math.random];
  const examiner = createExaminer({
    stores: openStoreProbes(settings, { clock, random }),
    engines: [],
    readHost: createHostReader({ role: 'part', clock }),
    clock,
    random,
  });
  let used = true;
  const using = async (): Promise<void> => {
    for (let at = 0; used; at = (at + 1) % 500) {
      const name = `sc1:goods:{${String(at).padStart(22, 'a')}}`;
      await store.write(name, Buffer.alloc(1000), TTL_MS);
      await readOnce(store, name, DEADLINE_MS);
      await sleep(2);
    }
  };
  const uses = using();
  let report: Report;
  try {
    report = diagnose(await examiner.series(), { judge: createJudge(STORE_CHECKS), tookMs: 0 });
  } finally {
    used = false;
    await uses;
    await examiner.close();
  }
  const wrong = report.findings.filter(({ check, severity }) => severity !== 'info' && !OF_THE_MACHINE.has(check));
  hold(
    wrong.length === 0,
    wrong.map(({ check, subject, evidence }) => `the doctor finds ${check} at ${subject}: ${evidence}`).join('\n'),
  );
  const refused = report.skipped.filter(({ reason }) => /NOPERM|NOAUTH|WRONGPASS/.test(reason));
  hold(
    refused.length === 0,
    refused.map(({ check, reason }) => `the doctor cannot make ${check}: ${reason}`).join('\n'),
  );
  return report.checked;
}
