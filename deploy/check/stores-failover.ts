import { setTimeout as sleep } from 'node:timers/promises';
import { type SentinelStack, startSentinel, until } from '../../loadtest/stack/redis.ts';
import type { RedisNode } from '../../loadtest/stack/redis-node.ts';
import type { Settings } from '../../src/config/settings.ts';
import { hold } from './checker.ts';
import {
  credentialsOf,
  includeLine,
  type OpenedStores,
  openStores,
  openUsers,
  operatorOf,
  passwordOf,
  settingsOf,
  userLines,
} from './stores-service.ts';
import {
  backlogBytes,
  directivesOf,
  failoverBoundMs,
  lossWindowMs,
  numberOf,
  optionalDirectivesOf,
  partitionWindowMs,
  replicaRule,
  sentinelTimes,
  startDelayMs,
} from './stores-windows.ts';

/** A master, its replica and three sentinels from the files of deploy/redis, and what they do when a server is lost. */
export interface Servers extends OpenedStores {
  readonly settings: Settings;
  readonly stack: SentinelStack;
  readonly stop: () => Promise<void>;
}

const TTL_MS = 600_000;
const READ_MS = 1000;
/** Sentinel turns a master that came back into a replica after four of its messages, 8 s, and the copy takes a moment. */
const DEMOTION_LIMIT_MS = 90_000;
const MIB = 2 ** 20;
/** Large enough that the kernel cannot keep what a silent replica does not read. */
const PAGE = Buffer.alloc(20_000, 'x');
/** Writes before a loss: with the replica, and for the time in which it says nothing. */
const IN_STEP_MS = 4000;
const SILENT_MS = 4000;

/** @throws when serpcache does not find the master through the sentinels. */
export async function startServers(flavour: 'redis' | 'valkey', folder: string): Promise<Servers> {
  const users = openUsers('users.acl', folder);
  const ofSentinels = openUsers('sentinel-users.acl', folder, users.passwords);
  const { passwords } = ofSentinels;
  const sentinelConfig = (host: string, port: number): readonly string[] => {
    const lines = directivesOf('sentinel.conf').filter((line) => !/^(?:bind|port) /.test(line));
    return lines.map((line) =>
      line
        .replace(/^aclfile .*/, `aclfile ${ofSentinels.path}`)
        .replace('<master-address> 6379', `${host} ${port}`)
        .replace(/<(\w+)-password>/, (_, user: string) => passwordOf(passwords, user)),
    );
  };
  const stack = await startSentinel({
    flavour,
    operator: operatorOf(passwords),
    sentinelConfig,
    config: ['protected-mode yes', 'maxmemory 512mb', ...userLines(users), includeLine('replicas.conf')],
  });
  try {
    const settings = settingsOf(folder, {
      store: {
        kind: 'sentinel',
        master: stack.master,
        sentinels: stack.sentinels.map(({ address }) => address),
        ...credentialsOf(passwords),
        sentinelUsername: 'serpcache',
        sentinelPassword: passwordOf(passwords, 'serpcache'),
      },
    });
    const opened = await openStores(settings, 1);
    const stop = async (): Promise<void> => {
      await opened.close();
      await stack.stop();
    };
    return { ...opened, settings, stack, stop };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

interface Pair {
  readonly master: RedisNode;
  readonly replica: RedisNode;
}

/** The present master as the first sentinel names it, and the other server. */
async function pairOf({ stack }: Servers): Promise<Pair> {
  const reply = await stack.sentinels[0]?.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', stack.master);
  const address = Array.isArray(reply) ? reply.join(':') : '';
  const master = stack.nodes.find((node) => node.address === address);
  const replica = stack.nodes.find((node) => node.address !== address);
  if (master === undefined || replica === undefined) throw new Error(`sentinels name ${address} as the master`);
  return { master, replica };
}

async function field(node: RedisNode, section: string, name: string): Promise<string> {
  const text = String(await node.command('INFO', section));
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(text)?.[1] ?? '';
}

const linkIsUp = async (replica: RedisNode): Promise<boolean> =>
  (await field(replica, 'replication', 'role')) === 'slave' &&
  (await field(replica, 'replication', 'master_link_status')) === 'up' &&
  (await field(replica, 'replication', 'master_sync_in_progress')) === '0';

const secondsText = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

// --- a master is lost -------------------------------------------------------------------------------------------------

interface Acknowledged {
  readonly name: string;
  readonly atMs: number;
}

/**
 * Writes without a pause, loses the master, and goes on until another server acknowledges. The time and the writes that are
 * gone are within the bounds of the files; the lost server comes back as a replica.
 */
export async function failover(servers: Servers, how: 'kill' | 'pause'): Promise<string> {
  const { store } = servers;
  const { master, replica } = await pairOf(servers);
  const times = sentinelTimes();
  const replTimeoutMs = 1000 * numberOf('replicas.conf', 'repl-timeout');
  const [boundMs, windowMs] = [failoverBoundMs(times), lossWindowMs(replicaRule(), times, replTimeoutMs)];
  const written: Acknowledged[] = [];
  const write = async (): Promise<string | undefined> => {
    const name = `sc1:goods:{${how}${written.length}}`;
    const { kind } = await store.write(name, PAGE, TTL_MS);
    if (kind === 'stored') written.push({ name, atMs: performance.now() });
    return kind === 'stored' ? store.locate(name).node : undefined;
  };
  const writeFor = async (durationMs: number): Promise<void> => {
    const untilMs = performance.now() + durationMs;
    while (performance.now() < untilMs) {
      await write();
      await sleep(2);
    }
  };
  const refused = String(await replica.command('SET', 'sc1:goods:{written}', 'x').catch((error: unknown) => error));
  hold(/READONLY/.test(refused), `replicas.conf: a replica takes a write: ${refused}`);
  await writeFor(IN_STEP_MS);
  const inStep = written.length;
  // A replica that says nothing for a while is behind, and is promoted all the same.
  if (how === 'kill') await replica.pause();
  await writeFor(SILENT_MS);
  const lostMs = performance.now();
  const before = written.length;
  hold(inStep > 100, `${inStep} writes were acknowledged while the replica was in step`);
  // One machine has both: two sentinels must do.
  if (how === 'kill') await servers.stack.sentinels.at(-1)?.kill();
  await master[how]();
  replica.resume();
  let node: string | undefined;
  while (node !== replica.address && performance.now() - lostMs <= boundMs) {
    node = await write();
    await sleep(10);
  }
  const outageMs = performance.now() - lostMs;
  hold(node === replica.address, `sentinel.conf: no other master took writes within ${secondsText(boundMs)}`);
  hold(outageMs < startDelayMs(), 'replicas.service.conf: the wait before a start is shorter than the failover');
  const gone = await missing(servers, written.slice(0, before));
  const oldest = Math.max(0, ...gone.map(({ atMs }) => lostMs - atMs));
  hold(oldest <= windowMs, `replicas.conf: a write of ${secondsText(oldest)} before the loss is gone`);
  const early = (await missing(servers, written.slice(0, inStep))).length;
  hold(early === 0, `${early} of ${inStep} writes are gone that the replica had`);
  if (how === 'pause') hold(oldest <= IN_STEP_MS, `a replica in step lost writes of ${secondsText(oldest)}`);
  else hold(gone.length > 0, 'a replica that was silent has the writes of that time');
  // After the wait of the unit, or when the machine answers again.
  if (how === 'kill') await master.restart();
  else master.resume();
  await until('the lost master to be a replica', () => linkIsUp(master), DEMOTION_LIMIT_MS);
  const later = await missing(servers, written.slice(0, before));
  hold(later.length === gone.length, `the return of the lost master removed ${later.length - gone.length} pages`);
  const words = how === 'kill' ? 'killed' : 'stopped';
  return `master ${words}, writes after ${secondsText(outageMs)} (bound ${secondsText(boundMs)}), ${gone.length} of ${before} lost${how === 'kill' ? ` to ${secondsText(SILENT_MS)} of a silent replica` : ''} (bound ${secondsText(windowMs)})`;
}

/** Those that the present master does not have. */
async function missing({ store }: Servers, written: readonly Acknowledged[]): Promise<readonly Acknowledged[]> {
  const found = await store.readMany(
    written.map(({ name }) => name),
    10 * READ_MS,
  );
  const fault = found.find(({ kind }) => kind === 'fault');
  hold(fault === undefined, `the pages cannot be read back: ${JSON.stringify(fault)}`);
  return written.filter((_, at) => found[at]?.kind === 'absent');
}

// --- a master that sees no replica ------------------------------------------------------------------------------------

/** Writes until one is refused or `limitMs` is over. @returns when the last acknowledged write was sent, since the start. */
async function acknowledgedFor(master: RedisNode, limitMs: number): Promise<number> {
  const beganMs = performance.now();
  let lastMs = 0;
  while (performance.now() - beganMs < limitMs) {
    const sentMs = performance.now() - beganMs;
    const reply = await master.command('SET', 'apart', 'x').catch((error: unknown) => error);
    if (reply !== 'OK') {
      hold(/NOREPLICAS/.test(String(reply)), `the master refuses a write: ${reply}`);
      break;
    }
    lastMs = sentMs;
    await sleep(50);
  }
  return lastMs;
}

/**
 * With the line that control.conf has for a replica, a master refuses writes once its replica is silent for the window. With
 * the value of replicas.conf it takes them, and loses those that it takes after its replica was promoted.
 */
export async function partition(servers: Servers): Promise<string> {
  const { master, replica } = await pairOf(servers);
  const [strict = ''] = optionalDirectivesOf('control.conf', /^min-replicas-to-write$/);
  const minReplicas = Number(strict.split(' ')[1]);
  const windowMs = partitionWindowMs({ ...replicaRule(), minReplicas });
  hold(Number.isFinite(windowMs), 'control.conf has no line for a replica');
  await master.command('CONFIG', 'SET', ...strict.split(' '));
  await replica.pause();
  let heldMs: number;
  try {
    heldMs = await acknowledgedFor(master, 2 * windowMs);
  } finally {
    replica.resume();
  }
  hold(heldMs <= windowMs, `a silent replica: ${secondsText(heldMs)} of writes, at most ${secondsText(windowMs)}`);
  await until('the replica to be in step', () => linkIsUp(replica));
  await master.command('CONFIG', 'SET', 'min-replicas-to-write', replicaRule().minReplicas);
  const lost = await splitBrain(servers);
  return `control store without its replica refuses after ${secondsText(heldMs)} (bound ${secondsText(windowMs)}), cut-off cache lost ${lost} of ${APART}`;
}

const APART = 20;

/**
 * Sentinels and the replica lose the master, while clients do not: their users are switched off there. @returns the number of
 * writes that it acknowledged after its replacement, all of which are gone.
 */
async function splitBrain(servers: Servers): Promise<number> {
  const { master, replica } = await pairOf(servers);
  const set = async (state: 'on' | 'off'): Promise<void> => {
    for (const user of ['sentinel', 'replication']) {
      await master.command('ACL', 'SETUSER', user, state);
      if (state === 'off') await master.command('CLIENT', 'KILL', 'USER', user);
    }
  };
  const names = Array.from({ length: APART }, (_, at) => `sc1:goods:{apart${at}}`);
  await set('off');
  try {
    const isReplaced = async (): Promise<boolean> => (await field(replica, 'replication', 'role')) === 'master';
    await until('the replica to be promoted', isReplaced, failoverBoundMs(sentinelTimes()));
    for (const name of names) await master.command('SET', name, 'x');
  } finally {
    await set('on');
  }
  await until('the cut-off master to be a replica', () => linkIsUp(master), DEMOTION_LIMIT_MS);
  const left = await replica.command('EXISTS', ...names);
  hold(left === 0, `${left} of ${APART} pages of a replaced master are at the new one`);
  return APART;
}

// --- a replica that was cut off ---------------------------------------------------------------------------------------

/** Cuts the replica off for a share of the backlog. @returns which sort of copy it needed. */
async function cutOff({ master, replica }: Pair, share: number): Promise<{ partial: number; full: number }> {
  const backlog = numberOf('replicas.conf', 'repl-backlog-size');
  const counts = async () => ({
    partial: Number(await field(master, 'stats', 'sync_partial_ok')),
    full: Number(await field(master, 'stats', 'sync_full')),
  });
  const before = await counts();
  const value = 'x'.repeat(MIB);
  await master.command('ACL', 'SETUSER', 'replication', 'off');
  await master.command('CLIENT', 'KILL', 'USER', 'replication');
  const beganMs = performance.now();
  for (let bytes = 0; bytes < share * backlog; bytes += MIB) {
    await master.command('SET', `sc1:goods:{large${(bytes / MIB) % 16}}`, value);
  }
  const outageSeconds = (performance.now() - beganMs) / 1000;
  const needed = backlogBytes({ bytesPerSecond: (share * backlog) / outageSeconds, outageSeconds });
  hold(needed < backlog === share < 1, `a backlog of ${backlog} bytes for ${needed} of an outage`);
  await master.command('ACL', 'SETUSER', 'replication', 'on');
  await until('the replica to be back', () => linkIsUp(replica), DEMOTION_LIMIT_MS);
  const after = await counts();
  return { partial: after.partial - before.partial, full: after.full - before.full };
}

/** Within write rate × outage a replica gets what it missed, beyond it everything. */
export async function resumption(servers: Servers): Promise<string> {
  const pair = await pairOf(servers);
  const within = await cutOff(pair, 0.75);
  hold(
    within.partial > 0 && within.full === 0,
    `replicas.conf: after 3/4 of the backlog the replica made ${within.full} full copies`,
  );
  const beyond = await cutOff(pair, 1.25);
  hold(beyond.full === 1, `after 5/4 of the backlog the replica made ${beyond.full} full copies, not one`);
  return 'replica resumed within the backlog, copied beyond it';
}

// --- a master that restarts too early ---------------------------------------------------------------------------------

/** The reason for the wait in replicas.service.conf: without it the replica is emptied. */
export async function masterThatRestarts(servers: Servers): Promise<string> {
  const { master, replica } = await pairOf(servers);
  await until('the replica to be in step', () => linkIsUp(replica));
  const before = Number(await replica.command('DBSIZE'));
  hold(before > 0, 'the replica has no pages to lose');
  await master.kill();
  await master.restart();
  const isEmpty = async (): Promise<boolean> => Number(await replica.command('DBSIZE')) === 0;
  await until('the replica to copy the empty master', isEmpty);
  return `restart without the wait emptied the replica of ${before} pages`;
}
