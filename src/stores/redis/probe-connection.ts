import { Redis } from 'ioredis';
import type { ProbeReply } from '../../operations/doctor/doctor.ts';
import { type Clock, settledWithin } from '../../runtime.ts';
import { type Address, formatAddress } from '../../schema/units.ts';
import { cut, nodeOptions, type RedisSettings, watchConnection } from './connection.ts';
import { detailOf } from './errors.ts';
import { needsDatabase } from './probe-commands.ts';

export interface ProbeConnectionOptions {
  readonly settings: RedisSettings;
  readonly at: Address;
  /** Sentinels have credentials of their own and no databases. */
  readonly sentinel: boolean;
  /** Shown by CLIENT LIST after `serpcache-doctor-`. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: () => number;
}

const MAX_CONNECT_MS = 1000;

interface Session {
  readonly redis: Redis;
  /** Undefined: it is open. Else the reply to every command. */
  readonly opened: Promise<Unmeasured | undefined>;
  /** The server's refusal of the store's database: commands about keys would tell of another database. */
  database: string | undefined;
  /** The first error of the connection: the reason why commands on it fail. */
  fault: Error | undefined;
  isOpen: boolean;
}

type Unmeasured =
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'unreachable'; readonly detail: string };

const CLOSED = { kind: 'unreachable', detail: 'the probe is closed' } as const;

/**
 * The doctor's connection to one server. The first command opens it, and it stays open: a doctor that reconnects for every
 * look would be the churn that it looks for. After it has ended, the next command opens another; nothing reconnects by
 * itself.
 */
export function createProbeConnection(options: ProbeConnectionOptions) {
  const { clock, settings, sentinel } = options;
  let current: Session | undefined;
  let closed = false;

  const end = (session: Session): void => {
    if (current === session) current = undefined;
    cut(session.redis);
  };

  const open = (): Session => {
    const redis = new Redis(probeOptions(options));
    redis.on('error', (error: Error) => {
      session.fault ??= error;
    });
    watchConnection(redis, {
      address: () => formatAddress(options.at),
      clock,
      random: options.random,
      observe: () => {},
      onReady: () => {},
      onProtocolError: () => {}, // its error follows
    });
    const connect = async (): Promise<Unmeasured | undefined> => {
      if (closed) return CLOSED;
      try {
        await redis.connect();
      } catch (error) {
        return faultOf(session.fault ?? error);
      }
      const database = sentinel || settings.kind === 'cluster' ? 0 : settings.database;
      if (database > 0) {
        await redis.select(database).catch((error: Error) => {
          session.database = `database ${database}: ${error.message}`;
        });
      }
      session.isOpen = true;
      return undefined;
    };
    const state = { database: undefined, fault: undefined, isOpen: false };
    const session: Session = { redis, opened: Promise.resolve().then(connect), ...state };
    redis.on('end', () => end(session));
    return session;
  };

  const exchange = async (session: Session, commands: readonly (readonly string[])[], withinMs: number) => {
    const replies: (ProbeReply | undefined)[] = commands.map(() => undefined);
    const all = session.opened.then(async (problem) => {
      const startedMs = clock.monotonicMs();
      const { stream } = session.redis;
      if (problem === undefined) stream.cork();
      const sent = commands.map(async (command, index) => {
        const reply = problem ?? (await sendOne(session, command));
        replies[index] = reply.kind === 'unreachable' ? reply : { ...reply, ms: clock.monotonicMs() - startedMs };
      });
      if (problem === undefined) stream.uncork();
      await Promise.all(sent);
    });
    const inTime = (await settledWithin(all, withinMs)) !== undefined;
    if (!inTime) end(session);
    return { replies, inTime };
  };

  return {
    /** Sends the commands in one write. Settles within `withinMs` and rejects never; one reply for each command. */
    send: async (commands: readonly (readonly string[])[], withinMs: number): Promise<readonly ProbeReply[]> => {
      if (closed) return commands.map(() => CLOSED);
      const untilMs = clock.monotonicMs() + withinMs;
      const missing: ProbeReply = { kind: 'unreachable', detail: `no reply within ${Math.round(withinMs)} ms` };
      const session = current ?? open();
      current = session;
      const { isOpen } = session;
      const { replies, inTime } = await exchange(session, commands, withinMs);
      // A kept connection may have been closed by the server (`timeout`, a restart): that says nothing about it now.
      if (isOpen && inTime && !closed && replies.every((reply) => reply?.kind === 'unreachable')) {
        end(session);
        current ??= open();
        const again = await exchange(current, commands, Math.max(1, untilMs - clock.monotonicMs()));
        return again.replies.map((reply) => reply ?? missing);
      }
      return replies.map((reply) => reply ?? missing);
    },
    close(): void {
      closed = true;
      if (current !== undefined) end(current);
    },
  };
}

export type ProbeConnection = ReturnType<typeof createProbeConnection>;

async function sendOne(session: Session, command: readonly string[]) {
  const { redis, database } = session;
  if (database !== undefined && needsDatabase(command)) return { kind: 'refused', detail: database } as const;
  const [name = '', ...args] = command;
  try {
    return { kind: 'reply', reply: await redis.call(name, args) } as const;
  } catch (error) {
    const fault = faultOf(error);
    return fault.kind === 'unreachable' ? faultOf(session.fault ?? error) : fault;
  }
}

/** An error reply is the server's refusal; every other error means that no reply came. */
function faultOf(error: unknown): Unmeasured {
  if (!(error instanceof Error)) return { kind: 'unreachable', detail: String(error) };
  return { kind: error.name === 'ReplyError' ? 'refused' : 'unreachable', detail: detailOf(error) };
}

function probeOptions({ settings, at, sentinel, name, random }: ProbeConnectionOptions) {
  const { username: _u, password: _p, ...options } = nodeOptions(settings, `doctor-${name}`, random);
  return {
    ...options,
    ...at,
    ...credentialsOf(settings, sentinel),
    // SELECT is sent by us: when it is refused, ioredis continues in database 0.
    db: 0,
    lazyConnect: true,
    connectTimeout: Math.min(settings.connectTimeoutMs, MAX_CONNECT_MS),
    // A server that loads its data answers INFO, and that it loads is worth knowing.
    enableReadyCheck: false,
    retryStrategy: null,
  };
}

function credentialsOf(settings: RedisSettings, sentinel: boolean) {
  if (sentinel) {
    if (settings.kind !== 'sentinel') return {};
    return { username: settings.sentinelUsername, password: settings.sentinelPassword };
  }
  const { username, password } = settings.doctor ?? settings;
  return { username, password };
}
