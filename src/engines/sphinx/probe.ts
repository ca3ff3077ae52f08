import type { EngineProbe } from '../../operations/doctor/doctor.ts';
import type { EngineFacts, Part } from '../../operations/doctor/facts.ts';
import type { Clock } from '../../runtime.ts';
import { type Connection, type ConnectionOptions, openConnection, type Row } from './connection-pool.ts';

interface SphinxProbeOptions extends Omit<ConnectionOptions, 'onClose'> {
  readonly facts: Pick<EngineFacts, 'name' | 'domains' | 'kind' | 'endpoint' | 'index' | 'settings'>;
  readonly clock: Clock;
}

/** Maximum time of one reading; with the lateness of a timer it stays below the two seconds of the port. */
const READ_MS = 1800;

/**
 * The doctor's view of one searchd: SHOW statements over a connection of its own, which counts toward max_children. The first
 * reading opens it; after a failure the next reading opens another one.
 */
export function createSphinxProbe({ facts, clock, ...connectionOptions }: SphinxProbeOptions): EngineProbe {
  let current: Connection | undefined;
  let closed = false;
  /** The figures of the index and the time since which they are the same. */
  let index: { readonly figures: string; readonly sinceMs: number; readonly changed: boolean } | undefined;

  const connection = async (signal: AbortSignal): Promise<Connection> => {
    if (closed) throw new Error('the probe is closed');
    if (current?.isOpen()) return current;
    const opened = await openConnection({ ...connectionOptions, onClose: () => {} }, signal);
    if (closed) opened.destroy();
    current = opened;
    return opened;
  };

  /** The rows of one statement. A refusal is a part that is missing; any other failure ends the reading. */
  const rows = async (own: Connection, sql: string): Promise<Part<readonly Row[]>> => {
    try {
      const [set] = await own.send(sql);
      return { known: set ?? [] };
    } catch (error) {
      if (!own.isOpen()) throw error;
      return { skipped: `${sql} is refused: ${messageOf(error)}` };
    }
  };

  const indexAge = (status: Part<Readonly<Record<string, string>>>): EngineFacts['indexAge'] => {
    if ('skipped' in status) return status;
    const { indexed_documents: documents, indexed_bytes: bytes } = status.known;
    const figures = `${documents} ${bytes}`;
    const nowMs = clock.monotonicMs();
    if (index?.figures !== figures) index = { figures, sinceMs: nowMs, changed: index !== undefined };
    return { known: { seconds: (nowMs - index.sinceMs) / 1000, from: index.changed ? 'change' : 'first-seen' } };
  };

  const readFrom = async (own: Connection, depth: 'cheap' | 'full'): Promise<EngineFacts> => {
    const startedMs = clock.monotonicMs();
    const status = fieldsIn(await rows(own, 'SHOW STATUS'));
    const rttMs = { known: clock.monotonicMs() - startedMs };
    const base = { ...facts, status, rttMs, version: { known: own.version }, ...missing('cheap') };
    if (depth === 'cheap') return base;
    const isManticore = facts.kind === 'manticore';
    const indexStatus = fieldsIn(await rows(own, `SHOW ${isManticore ? 'TABLE' : 'INDEX'} ${facts.index} STATUS`));
    const agents = agentsIn(fieldsIn(await rows(own, 'SHOW AGENT STATUS')));
    const threads = isManticore
      ? ({ skipped: 'the threads of Manticore are not read' } as const)
      : threadsIn(await rows(own, 'SHOW THREADS'));
    const settings = isManticore ? fieldsIn(await rows(own, 'SHOW SETTINGS')) : undefined;
    return {
      ...base,
      indexStatus,
      agents,
      threads,
      indexAge: indexAge(indexStatus),
      maxConnections: limitIn(settings),
    };
  };

  const absent = (reason: string): EngineFacts => {
    const skipped = { skipped: reason };
    return { ...facts, status: skipped, rttMs: skipped, version: skipped, ...missing(reason) };
  };

  return {
    read: async (depth) => {
      const stop = new AbortController();
      const timer = setTimeout(() => stop.abort(), READ_MS);
      let own: Connection | undefined;
      try {
        own = await connection(stop.signal);
        const used = own;
        // searchd goes on with a statement that nobody waits for: such a connection is not used again.
        stop.signal.addEventListener('abort', () => used.destroy(), { once: true });
        return await readFrom(used, depth);
      } catch (error) {
        own?.destroy();
        return absent(stop.signal.aborted ? `no answer within ${READ_MS} ms` : messageOf(error));
      } finally {
        clearTimeout(timer);
      }
    },
    close: async () => {
      closed = true;
      current?.destroy();
    },
  };
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 120);
}

function missing(reason: string) {
  const skipped = { skipped: reason };
  return { indexStatus: skipped, agents: skipped, threads: skipped, indexAge: skipped, maxConnections: skipped };
}

/** Rows of names and values. */
function fieldsIn(part: Part<readonly Row[]>): Part<Readonly<Record<string, string>>> {
  if ('skipped' in part) return part;
  return { known: Object.fromEntries(part.known.map(([name, value]) => [name ?? '', value ?? ''])) };
}

/** Names such as `ag_0_hostname`, `ag_0_1periods_query_timeouts`. The periods are of a minute; the longest is read. */
function agentsIn(status: Part<Readonly<Record<string, string>>>): EngineFacts['agents'] {
  if ('skipped' in status) return status;
  const fields = Object.entries(status.known);
  const ids = new Set(fields.flatMap(([name]) => /^(ag_\d+)_/.exec(name)?.[1] ?? []));
  return {
    known: [...ids].map((id) => {
      const own = fields
        .filter(([name]) => name.startsWith(`${id}_`))
        .map(([name, value]) => [name.slice(id.length + 1), value] as const);
      const sum = (pattern: RegExp): number =>
        own.reduce((total, [name, value]) => total + (pattern.test(name) ? Number(value) || 0 : 0), 0);
      return {
        agent: own.find(([name]) => name === 'hostname')?.[1] ?? id,
        failures: sum(/^15periods_(?:connect_failures|network_errors|wrong_replies|unexpected_closings)$/),
        timeouts: sum(/^15periods_(?:connect_timeouts|query_timeouts)$/),
        queries: sum(/^15periods_succeeded_queries$/),
      };
    }),
  };
}

/** Rows of id, protocol, state, time in seconds and text. The text is left out, and the doctor's own statement. */
function threadsIn(part: Part<readonly Row[]>): EngineFacts['threads'] {
  if ('skipped' in part) return part;
  const others = part.known.filter(([, , , , text]) => !/^SHOW /i.test(text ?? ''));
  const times = others.map(([, , , seconds]) => 1000 * (Number(seconds) || 0));
  return { known: { count: others.length, longestMs: Math.max(0, ...times) } };
}

/** `searchd.max_connections`; 0 means that there is no limit. */
function limitIn(settings: Part<Readonly<Record<string, string>>> | undefined): Part<number> {
  if (settings === undefined) return { skipped: 'searchd does not tell max_children; its configuration does' };
  if ('skipped' in settings) return settings;
  const limit = Number(settings.known['searchd.max_connections'] ?? 0);
  return limit > 0 ? { known: limit } : { skipped: 'no maximum is set' };
}
