import type { Logger } from 'pino';
import type { StoreEvent } from '../cache/store.ts';
import type { ChangeEvent } from '../changes/feed.ts';
import type { ControlEvent } from '../control/control.ts';
import type { EngineEvent } from '../engines/create-engines.ts';
import type { TokenEvent } from '../http/transport/events.ts';
import type { DoctorEvent } from '../operations/doctor/doctor.ts';
import type { DrillEvent } from '../operations/drills/drills.ts';
import type { ShadowEvent } from '../operations/shadow/shadow.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import { type Clock, createThrottle, type Throttle } from '../runtime.ts';
import type { SearchEvent } from '../search/events.ts';
import type { TracingEvent } from '../tracing/delivery.ts';
import type { Observers } from './events.ts';

interface EventLogOptions {
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

type EventLog = Omit<Observers, 'observeRequest' | 'observeConnection' | 'observePopularity'>;

/** The kinds of events that can be a line, where most events are of other kinds. */
export const LOGGED_KINDS = {
  observeStore: ['breaker', 'connection', 'topology'],
  observeSearch: ['backfill', 'engine'],
  observeGuard: ['breaker'],
  observeChanges: ['changes-gap', 'changes-away', 'changes-back', 'source-away', 'source-back', 'changes-refused'],
} as const;

/** Maximum number of lines per second. Every domain tries each unreachable node many times a second. */
const CONNECTION_LINES = 5;
/** A store that is away fails many times a second for one reason: one line says it, and one more after this time. */
const SAME_REASON_MS = 30_000;
const BREAKER_LINES = 20;
const ENGINE_LINES = 2;
const CONTROL_LINES = 2;
/** Maximum number of lines per second and listener: a client that guesses tokens must not fill the log. */
const TOKEN_LINES = 1;
const TRACING_LINES = 1;

/** Writes the events that operators want to read: changes of state and operations. Events of single requests are in metrics. */
export function createEventLog({ log, clock: { monotonicMs } }: EventLogOptions): EventLog {
  const throttle = (perSecond: number): Throttle => createThrottle({ perSecond, monotonicMs });
  const failures = throttle(CONNECTION_LINES);
  const connections = throttle(CONNECTION_LINES);
  const engineFaults = throttle(ENGINE_LINES);
  const controls = throttle(CONTROL_LINES);
  const breakers = throttle(BREAKER_LINES);
  const exports = throttle(TRACING_LINES);
  const tokens = { admin: throttle(TOKEN_LINES), public: throttle(TOKEN_LINES) };

  /** By domain and reason: when the next line may be written, and the number of those omitted. */
  const spaced = new Map<string, { readonly nextMs: number; omitted: number }>();
  const spacedByReason = <T extends object>(key: string, facts: T) => {
    const before = spaced.get(key) ?? { nextMs: Number.NEGATIVE_INFINITY, omitted: 0 };
    if (monotonicMs() < before.nextMs || failures.pass() === undefined) {
      before.omitted += 1;
      spaced.set(key, before);
      return undefined;
    }
    spaced.set(key, { nextMs: monotonicMs() + SAME_REASON_MS, omitted: 0 });
    return before.omitted === 0 ? facts : { ...facts, omitted: before.omitted };
  };

  /** @param line undefined: it is omitted. */
  const write = (level: keyof typeof log, line: object | undefined, message: string): void => {
    if (line !== undefined) log[level](line, message);
  };

  const logBreaker = (part: 'engine' | 'store node', facts: object, state: BreakerState): void =>
    write(state === 'open' ? 'warn' : 'info', counted(breakers, { ...facts, state }), `${part}: breaker ${state}`);

  const logStore = (domain: string, event: StoreEvent): void => {
    if (event.kind === 'breaker') logBreaker('store node', { domain, node: event.node }, event.state);
    if (event.kind === 'topology') {
      write('debug', counted(connections, { domain, detail: event.detail }), 'store: topology');
    }
    if (event.kind !== 'connection') return;
    const { node, state, reason = 'other', detail } = event;
    if (state === 'failed') {
      write('warn', spacedByReason(`${domain} ${reason}`, { domain, node, reason, detail }), 'store: not ready');
    } else write('debug', counted(connections, { domain, node, state }), `store node: connection ${state}`);
  };

  const logSearch = (event: SearchEvent): void => {
    if (event.kind === 'backfill') {
      log.info(factsOf(event), 'store node lost its entries: written back from memory');
      return;
    }
    // The engine's own message about a failure is shown here only; clients get a message of this service.
    if (event.kind !== 'engine' || event.detail === undefined) return;
    const { domain, result, detail, traceId } = event;
    write('warn', counted(engineFaults, { domain, result, detail, trace_id: traceId }), `engine: ${result}`);
  };

  const logEngine = (domain: string, event: EngineEvent): void => {
    const failed =
      event.kind === 'connection'
        ? event.state === 'failed'
        : event.kind === 'worker' && (event.state === 'crashed' || event.state === 'kept');
    const line = counted(failed ? failures : connections, { domain, ...event });
    write(failed ? 'warn' : 'debug', line, `engine: ${event.kind}${failed ? ' failed' : ''}`);
  };

  const logControl = ({ kind, ...facts }: ControlEvent): void => {
    const isOrdinary = kind === 'control-changed' || kind === 'control-back' || kind === 'overlay';
    const line = isOrdinary || kind === 'control-away' ? facts : counted(controls, facts);
    write(isOrdinary ? 'info' : 'warn', line, CONTROL_MESSAGES[kind]);
  };

  const logChanges = (event: ChangeEvent): void => {
    if (event.kind === 'changes-applied' || event.kind === 'page-changed') return;
    const line = counted(controls, factsOf(event));
    write(event.kind.endsWith('-back') ? 'info' : 'warn', line, CHANGES_MESSAGES[event.kind]);
  };

  const logDrill = ({ kind, ...facts }: DrillEvent): void => {
    if (kind === 'drill-guard') log.warn(facts, 'drill: a guard is broken');
    else if (kind === 'drill-unwritten')
      log.error(facts, 'drill: its report cannot be kept; it is known until this process ends');
    else log.info(facts, kind.replace('-', ': '));
  };

  const logShadow = (event: ShadowEvent): void => {
    if (event.kind === 'shadow-changed') log.info(factsOf(event), `shadow: ${event.state}`);
    if (event.kind === 'shadow-unwritten') log.warn(factsOf(event), 'shadow: its report cannot be kept');
    if (event.kind !== 'placement-changed') return;
    const isWrong = event.phase === 'unknown-store' || event.phase === 'isolated';
    log[isWrong ? 'warn' : 'info'](factsOf(event), PLACEMENT_MESSAGES[event.phase]);
  };

  const logToken = (event: TokenEvent): void => {
    const line = counted(tokens[event.listener], factsOf(event));
    if (event.listener === 'admin') write('warn', line, 'a token was refused');
    // A client that sends its token with every request does so by habit; that is not an attack.
    else write('info', line, 'a token was sent to the public listener, which takes none');
  };

  const logDoctor = (event: DoctorEvent): void => {
    if (event.kind === 'doctor-failed') log.error({ detail: event.detail }, 'doctor: a look failed');
    if (event.kind !== 'doctor-finding') return;
    const { change, atMs: _, ...facts } = event.line;
    const isGrave = change === 'raised' && facts.severity !== 'info';
    log[isGrave ? 'warn' : 'info'](facts, `doctor: a finding was ${change}`);
  };

  const logTracing = ({ outcome, spans, detail }: TracingEvent): void => {
    if (outcome === 'exported') return;
    write('warn', counted(exports, { spans, detail }), 'tracing: spans were not exported');
  };

  return {
    observeStore: logStore,
    observeSearch: logSearch,
    observeEngine: logEngine,
    observeGuard: (domain, event) => {
      if (event.kind === 'breaker') logBreaker('engine', { domain, target: event.target }, event.state);
    },
    observeControl: logControl,
    observeChanges: logChanges,
    observeDrill: logDrill,
    observeFlush: ({ kind, ...facts }) => log.info(facts, `flush: ${kind}`),
    observeWarm: ({ kind, ...facts }) => log.info(facts, kind.replaceAll('-', ' ')),
    observeShadow: logShadow,
    observeDoctor: logDoctor,
    observeToken: logToken,
    observeTracing: logTracing,
  };
}

const CONTROL_MESSAGES: Readonly<Record<ControlEvent['kind'], string>> = {
  'control-changed': 'control: another document is followed',
  'control-away': 'control: the store does not answer; the last known document stays',
  'control-back': 'control: the store answers again',
  'control-restored': 'control: the store had lost the document; it was written back',
  'control-corrupt':
    'control: the stored document cannot be believed; the last known one stays and is written back, unless another version wrote this; if it is not, delete the key',
  'control-unsigned':
    'control: the stored document is not signed with a key configured here; the last known one stays and is written back; if no process knows one, delete the key',
  'control-reports-refused': 'control: reports of other processes cannot be read or are not signed',
  overlay: 'control: a drill',
};

const CHANGES_MESSAGES = {
  'changes-gap': 'changes: the feed has a gap; every older page counts as changed',
  'changes-away': 'changes: the stream does not answer; pages older than a few seconds count as changed',
  'changes-back': 'changes: the stream answers again',
  'source-away': 'changes: the stream of the configuration is not read',
  'source-back': 'changes: the stream of the configuration is read again',
  'changes-refused': 'changes: entries were refused',
} as const;

const PLACEMENT_MESSAGES: Readonly<Record<Of<ShadowEvent, 'placement-changed'>['phase'], string>> = {
  configured: 'placement: the store of the configuration is read and written',
  prepared: 'placement: a cut-over is prepared; the active store is read, both stores are written',
  committed: 'placement: a cut-over is committed; the active store is read first, both stores are read and written',
  settled: 'placement: the cut-over is settled; the active store alone is read and written',
  isolated: 'placement: the control store is silent; both stores of the cut-over are read and written',
  'unknown-store':
    'placement: a store of the cut-over is not declared in this process, which goes on with the stores it used before; add it to the configuration and restart',
};

type Of<E, K extends string> = Extract<E, { readonly kind: K }>;

type BreakerState = Extract<GuardEvent, { kind: 'breaker' }>['state'];

/** The members of an event: its message tells the kind. */
function factsOf<E extends { readonly kind: string }>({ kind: _kind, ...facts }: E): Omit<E, 'kind'> {
  return facts;
}

/** The line with the count of lines omitted before it; undefined when this line is omitted too. */
function counted<T extends object>(throttle: Throttle, facts: T): (T & { readonly omitted?: number }) | undefined {
  const omitted = throttle.pass();
  if (omitted === undefined) return undefined;
  return omitted === 0 ? facts : { ...facts, omitted };
}
