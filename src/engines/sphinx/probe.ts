import type { EngineProbe } from '../../operations/doctor/doctor.ts';
import type { EngineFacts, Figure } from '../../operations/doctor/facts.ts';
import { type Clock, settledWithin } from '../../runtime.ts';
import { type Connection, type ConnectionOptions, openConnection, type Row } from './connection.ts';
import { plainFigures } from './rotation.ts';
import { checkIndexName } from './rows.ts';

interface SphinxProbeOptions extends Omit<ConnectionOptions, 'onClose'> {
  readonly facts: Pick<EngineFacts, 'name' | 'domains' | 'kind' | 'endpoint' | 'index' | 'settings'>;
  readonly clock: Clock;
}

type Fields = Readonly<Record<string, string>>;

/** Maximum time of one reading; with a late timer it stays below the two seconds of the port. */
const READ_MS = 1800;
const MAX_DETAIL = 120;

/**
 * The doctor's view of one index of a searchd: SHOW statements over a connection of its own, which counts toward
 * max_children. The first reading opens it; after a failure the next reading opens another one.
 * @throws when the name of the index is not allowed in a statement.
 */
export function createSphinxProbe({ facts, clock, ...connectionOptions }: SphinxProbeOptions): EngineProbe {
  checkIndexName(facts.index);
  const isManticore = facts.kind === 'manticore';
  const closing = new AbortController();
  /** Readings at the same time share it. */
  let connection: Promise<Connection> | undefined;
  const ageOf = createIndexWatch(clock);

  const connected = async (): Promise<Connection> => {
    if (closing.signal.aborted) throw new Error('the probe is closed');
    const connectTimeoutMs = Math.min(connectionOptions.connectTimeoutMs, READ_MS);
    const onClose = (): void => {
      connection = undefined;
    };
    connection ??= openConnection({ ...connectionOptions, connectTimeoutMs, onClose }, closing.signal);
    return connection;
  };

  const readFrom = async (own: Connection, depth: 'cheap' | 'full'): Promise<EngineFacts> => {
    const sentMs = clock.monotonicMs();
    const all = fieldsIn(await rowsOf(own, 'SHOW STATUS'));
    const rttMs = { known: clock.monotonicMs() - sentMs };
    const parts = fieldsIn(await rowsOf(own, `SHOW AGENT ${facts.index} STATUS`));
    const isDistributed = 'known' in parts && Object.keys(parts.known).some((name) => name.startsWith(PART));
    // searchd refuses it for a distributed index, whose documents are in its parts.
    const indexStatus = isDistributed
      ? ({ skipped: 'the index is distributed' } as const)
      : fieldsIn(await rowsOf(own, `SHOW ${isManticore ? 'TABLE' : 'INDEX'} ${facts.index} STATUS`));
    const cheap = {
      ...facts,
      version: { known: own.version },
      status: withoutAgents(all),
      rttMs,
      indexStatus,
      agents: agentsIn(facts.index, all, parts),
      indexAge: ageOf(indexStatus),
    };
    if (depth === 'cheap') return { ...cheap, threads: CHEAP, maxConnections: CHEAP };
    return {
      ...cheap,
      threads: isManticore ? NO_QUERY_TIME : threadsIn(await rowsOf(own, 'SHOW THREADS')),
      maxConnections: isManticore ? limitIn(fieldsIn(await rowsOf(own, 'SHOW SETTINGS'))) : NO_LIMIT_TOLD,
    };
  };

  const absent = (reason: string): EngineFacts => {
    const part = { skipped: reason };
    return {
      ...facts,
      status: part,
      version: part,
      rttMs: part,
      indexStatus: part,
      agents: part,
      threads: part,
      indexAge: part,
      maxConnections: part,
    };
  };

  return {
    read: async (depth) => {
      let own: Connection | undefined;
      const answer = async (): Promise<EngineFacts> => {
        own = await connected();
        return readFrom(own, depth);
      };
      const late = { value: `no answer within ${READ_MS} ms` };
      const { value } = (await settledWithin(answer().catch(messageOf), READ_MS)) ?? late;
      if (typeof value !== 'string') return value;
      // searchd finishes an abandoned statement before the next one: its connection is closed.
      own?.destroy();
      return absent(value);
    },
    close: async () => {
      closing.abort();
      (await connection?.catch(() => undefined))?.destroy();
    },
  };
}

const CHEAP = { skipped: 'cheap' } as const;
/** Its SHOW THREADS has the time of a job, and a query is many of them. */
const NO_QUERY_TIME = { skipped: 'Manticore does not tell the time of a running query' } as const;
const NO_LIMIT_TOLD = { skipped: 'searchd does not tell max_children; its configuration does' } as const;

/** The rows of one statement. A refusal is a missing part; any other failure ends the reading. */
async function rowsOf(own: Connection, sql: string): Promise<Figure<readonly Row[]>> {
  try {
    const [rows] = await own.send(sql);
    return { known: rows ?? [] };
  } catch (error) {
    if (!own.isOpen()) throw error;
    return { skipped: `${sql} is refused: ${messageOf(error)}` };
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, MAX_DETAIL);
}

function fieldsIn(part: Figure<readonly Row[]>): Figure<Fields> {
  if ('skipped' in part) return part;
  return { known: Object.fromEntries(part.known.map(([name, value]) => [name ?? '', value ?? ''])) };
}

/** Counters of agents in SHOW STATUS, `ag_goods_1_2_connect_failures`: of every distributed index of the server. */
const AGENT = 'ag_';
/** Parts of one distributed index in SHOW AGENT … STATUS, local ones too. */
const PART = 'dstindex_';

function withoutAgents(status: Figure<Fields>): Figure<Fields> {
  if ('skipped' in status) return status;
  return { known: Object.fromEntries(Object.entries(status.known).filter(([name]) => !name.startsWith(AGENT))) };
}

const FAILURES = ['connect_failures', 'network_errors', 'wrong_replies', 'unexpected_closings'];
const TIMEOUTS = ['connect_timeouts', 'query_timeouts'];

/**
 * Names are in `dstindex_1agent_id`, those of mirrors in `dstindex_1mirror2_id`; the counters since the start in
 * `ag_<index>_1_2_<counter>`. SHOW AGENT STATUS has sums of the last minutes, which Manticore 29 writes under wrong names.
 */
function agentsIn(index: string, status: Figure<Fields>, parts: Figure<Fields>): EngineFacts['agents'] {
  if ('skipped' in status) return status;
  if ('skipped' in parts) return parts;
  return {
    known: Object.entries(parts.known).flatMap(([name, agent]) => {
      const [, part, mirror = '1'] = /^dstindex_(\d+)(?:agent|mirror(\d+))_id$/.exec(name) ?? [];
      if (part === undefined) return [];
      const counted = (counters: readonly string[]): number =>
        counters.reduce((sum, one) => sum + Number(status.known[`${AGENT}${index}_${part}_${mirror}_${one}`] ?? 0), 0);
      const [failures, timeouts] = [counted(FAILURES), counted(TIMEOUTS)];
      return [{ agent, failures, timeouts, queries: counted(['succeeded_queries']) }];
    }),
  };
}

/** Rows of id, protocol, state, seconds in it, and text, which is not kept. Idle connections are rows too. */
function threadsIn(part: Figure<readonly Row[]>): EngineFacts['threads'] {
  if ('skipped' in part) return part;
  const working = part.known.filter(([, , state, , text]) => state === 'query' && text !== 'SHOW THREADS');
  const times = working.map(([, , , seconds]) => 1000 * (Number(seconds) || 0));
  return { known: { count: working.length, longestMs: Math.max(0, ...times) } };
}

function limitIn(settings: Figure<Fields>): Figure<number> {
  if ('skipped' in settings) return settings;
  const limit = Number(settings.known['searchd.max_connections'] ?? 0);
  return limit > 0 ? { known: limit } : { skipped: 'the server has no maximum of connections' };
}

/** Tells how long ago the figures of the index changed: at most the time since the last reading with others. */
function createIndexWatch(clock: Clock): (status: Figure<Fields>) => EngineFacts['indexAge'] {
  let seen: { readonly figures: string; readonly firstMs: number; readonly lastMs: number } | undefined;
  let changedMs: number | undefined;
  return (status) => {
    if ('skipped' in status) return status;
    const figures = plainFigures(status.known);
    if (figures === undefined) return { skipped: 'the server does not tell the figures of a plain index' };
    const nowMs = clock.monotonicMs();
    const isSame = seen?.figures === figures;
    if (seen !== undefined && !isSame) changedMs = seen.lastMs;
    seen = { figures, firstMs: (isSame ? seen?.firstMs : undefined) ?? nowMs, lastMs: nowMs };
    return changedMs === undefined
      ? { known: { seconds: (nowMs - seen.firstMs) / 1000, from: 'first-seen' } }
      : { known: { seconds: (nowMs - changedMs) / 1000, from: 'change' } };
  };
}
