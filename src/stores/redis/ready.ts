import type { Redis } from 'ioredis';
import type { Clock } from '../../runtime.ts';

/** How a connection becomes ready and stays at a server that takes writes. */

type Role = 'master' | 'replica';

const ROLES: Readonly<Record<string, Role>> = { master: 'master', slave: 'replica' };

/**
 * ioredis asks INFO before it calls a connection ready, and reconnects for ever when the server refuses it (6.0.0,
 * `_readyCheck`; it accepts NOPERM only, with a line on the console). Proxies and managed servers refuse it. A server
 * that has no INFO is taken as ready: while it loads, it says so to each command.
 * @param onInfo called with the role, undefined where the server refuses INFO
 */
export function acceptServersWithoutInfo(redis: Redis, onInfo: (role?: Role, isLoading?: boolean) => void): void {
  const info = redis.info.bind(redis) as () => Promise<unknown>;
  redis.info = (async (callback: (error: Error | null, text?: string) => void) => {
    const reply = await info().catch((error: Error) => error);
    if (reply instanceof Error && !isRefusal(reply)) return callback(reply);
    const text = typeof reply === 'string' ? reply : '';
    const role = /^role:(master|slave)/m.exec(text)?.[1];
    onInfo(ROLES[role ?? ''], /^loading:1/m.test(text));
    return callback(null, text);
  }) as unknown as Redis['info'];
}

/** The server does not execute this command for us, whatever its words: proxies have their own. */
function isRefusal({ name, message }: Error): boolean {
  return name === 'ReplyError' && !NOT_READY.test(message);
}

/** Errors that say more about the server than that it has no INFO. */
const NOT_READY = /^(LOADING|MASTERDOWN|NOAUTH|WRONGPASS|NOREPLICAS|CLUSTERDOWN|BUSY)\b|max number of clients/i;

/**
 * A server that takes no more clients, or none from this host, writes an error and closes. It answers the first command of
 * the handshake, CLIENT SETNAME, whose errors ioredis drops.
 */
export function reportClosedDoors(redis: Redis, onFault: (message: string) => void): void {
  const client = redis.client.bind(redis) as (...args: readonly unknown[]) => Promise<unknown>;
  redis.client = ((...args: readonly unknown[]) => {
    const reply = client(...args);
    reply.catch(({ message }: Error) => {
      if (/^DENIED|max number of clients/i.test(message)) onFault(message);
    });
    return reply;
  }) as unknown as Redis['client'];
}

/**
 * Some proxies (twemproxy) end a connection at a command that they do not know, so after an attempt that ended in its
 * handshake without a reason the next one sends neither CLIENT SETNAME nor INFO, and the one after that both again.
 */
export function createHandshake(redis: Redis) {
  const { connectionName, enableReadyCheck, sentinels } = redis.options;
  // The master that sentinels name is asked for its role by INFO.
  const least = sentinels ? { connectionName: undefined } : { connectionName: undefined, enableReadyCheck: false };
  const send = (all: boolean): void => {
    Object.assign(redis.options, all ? { connectionName, enableReadyCheck } : least);
  };
  return {
    /** Called when an attempt ended in its handshake without a reason. */
    alternate: (): void => send(redis.options.connectionName === undefined),
    /** Called when a connection that was ready has ended: the next one may be to another server. */
    restore: (): void => send(true),
  };
}

/** The wait after the first look because of READONLY; it doubles up to the maximum while the server stays a replica. */
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 8000;
/** After this time without a refused write a server that does not tell its role counts as writable again. */
const FORGOTTEN_AFTER_MS = 30_000;

interface ReadOnlyOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
  /** Looks whether a new connection leads to another server. Never rejects. */
  readonly look: () => Promise<void>;
}

/**
 * A server that became a replica keeps its connections and refuses every write. Its name, or its sentinels, may lead to
 * the new master: only another connection shows it. The waits bound how often one is made; ±25 %, so that a fleet does not
 * connect at once.
 */
export function createReadOnly({ clock, random, look }: ReadOnlyOptions) {
  let isReadOnly = false;
  let isRoleKnown = false;
  let isStopped = false;
  let isLooking = false;
  let refusedMs = Number.NEGATIVE_INFINITY;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let waitMs = FIRST_WAIT_MS;
  let timer: NodeJS.Timeout | undefined;

  const lookAgain = async (): Promise<void> => {
    timer = undefined;
    const nowMs = clock.monotonicMs();
    if (!isRoleKnown && nowMs - refusedMs >= FORGOTTEN_AFTER_MS) isReadOnly = false;
    if (!isReadOnly) return;
    nextAtMs = nowMs + waitMs * (0.75 + random() / 2);
    waitMs = Math.min(MAX_WAIT_MS, 2 * waitMs);
    isLooking = true;
    await look();
    isLooking = false;
    plan();
  };
  const plan = (): void => {
    if (!isReadOnly || isStopped || isLooking) return;
    timer ??= setTimeout(lookAgain, Math.max(0, nextAtMs - clock.monotonicMs())).unref();
  };
  return {
    holds: (): boolean => isReadOnly,
    /** Called when a write was refused. True: it is the first. */
    refused(): boolean {
      const isFirst = !isReadOnly;
      refusedMs = clock.monotonicMs();
      isReadOnly = true;
      isStopped = false;
      plan();
      return isFirst;
    },
    /** Called with the role that the server of a new connection tells, if it tells one. */
    told(role: Role | undefined): void {
      isRoleKnown = role !== undefined;
      if (role === 'master') waitMs = FIRST_WAIT_MS;
      if (role !== undefined) isReadOnly = role === 'replica';
      isStopped = false;
      plan();
    },
    /** Called when the connection ends: nothing is looked for until there is another one. */
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
