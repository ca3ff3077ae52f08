import type { Logger } from 'pino';
import type { StoreEvent } from '../cache/store.ts';
import type { ControlEvent } from '../control/control.ts';
import type { EngineEvent } from '../engines/create-engines.ts';
import type { TokenEvent } from '../http/transport/events.ts';
import type { DrillEvent } from '../operations/drills/drills.ts';
import type { FlushEvent } from '../operations/flush/flush.ts';
import type { WarmEvent } from '../operations/warm/warm.ts';
import type { GuardEvent } from '../resilience/guard.ts';
import type { Clock } from '../runtime.ts';
import type { SearchEvent } from '../search/events.ts';
import { createThrottle, type Throttle } from '../throttle.ts';

/** What operators want to read about stores and engines: changes of state. What happens per request is in metrics. */
export interface EventLog {
  readonly store: (domain: string, event: StoreEvent) => void;
  readonly search: (event: SearchEvent) => void;
  readonly engine: (domain: string, event: EngineEvent) => void;
  readonly guard: (domain: string, event: GuardEvent) => void;
  readonly control: (event: ControlEvent) => void;
  readonly drill: (event: DrillEvent) => void;
  readonly flush: (event: FlushEvent) => void;
  readonly warm: (event: WarmEvent) => void;
  readonly token: (event: TokenEvent) => void;
}

export interface EventLogOptions {
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  readonly clock: Clock;
}

/** A node that is away is tried again many times a second, by every domain and for every node. */
const CONNECTION_LINES_PER_SECOND = 5;
const BREAKER_LINES_PER_SECOND = 20;
const ENGINE_LINES_PER_SECOND = 2;
/** Of each listener: whoever guesses must not fill the log. */
const TOKEN_LINES_PER_SECOND = 1;
const CONTROL_LINES_PER_SECOND = 2;

export function createEventLog({ log, clock }: EventLogOptions): EventLog {
  const { monotonicMs } = clock;
  const failures = createThrottle({ perSecond: CONNECTION_LINES_PER_SECOND, monotonicMs });
  const quiet = createThrottle({ perSecond: CONNECTION_LINES_PER_SECOND, monotonicMs });
  const faults = createThrottle({ perSecond: ENGINE_LINES_PER_SECOND, monotonicMs });
  const controls = createThrottle({ perSecond: CONTROL_LINES_PER_SECOND, monotonicMs });
  const breakers = createThrottle({ perSecond: BREAKER_LINES_PER_SECOND, monotonicMs });

  const tokens = {
    admin: createThrottle({ perSecond: TOKEN_LINES_PER_SECOND, monotonicMs }),
    public: createThrottle({ perSecond: TOKEN_LINES_PER_SECOND, monotonicMs }),
  };

  const breaker = (part: 'engine' | 'store node', facts: object, state: BreakerState): void => {
    const line = counted(breakers, { ...facts, state });
    if (line === undefined) return;
    if (state === 'open') log.warn(line, `${part}: breaker open`);
    else log.info(line, `${part}: breaker ${state}`);
  };

  return {
    store: (domain, event) => {
      switch (event.kind) {
        case 'breaker':
          return breaker('store node', { domain, node: event.node }, event.state);
        case 'connection': {
          const failed = event.state === 'failed';
          const { node, state, detail } = event;
          const facts = { domain, node, state, ...(detail === undefined ? {} : { detail }) };
          const line = counted(failed ? failures : quiet, facts);
          if (line === undefined) return;
          if (failed) log.warn(line, 'store node: connection failed');
          else log.debug(line, `store node: connection ${state}`);
          return;
        }
        case 'topology': {
          const line = counted(quiet, { domain, detail: event.detail });
          if (line !== undefined) log.debug(line, 'store: topology');
          return;
        }
        case 'command':
        case 'pipeline':
        case 'late':
          return;
      }
    },
    search: (event) => {
      if (event.kind === 'reseed') {
        const { domain, node, stored, kept, dropped, durationMs } = event;
        log.info(
          { domain, node, stored, kept, dropped, durationMs },
          'store node lost its entries: written back from memory',
        );
        return;
      }
      // What the engine itself said of a failure is told here and nowhere else; clients get our words.
      if (event.kind !== 'engine' || event.detail === undefined) return;
      const { domain, result, detail } = event;
      const line = counted(faults, { domain, result, detail });
      if (line !== undefined) log.warn(line, `engine: ${result}`);
    },
    engine: (domain, event) => {
      const troubled =
        event.kind === 'connection' ? event.state === 'failed' : event.kind === 'worker' && event.state === 'crashed';
      const line = counted(troubled ? failures : quiet, { domain, ...event });
      if (line === undefined) return;
      if (troubled) log.warn(line, `engine: ${event.kind} failed`);
      else log.debug(line, `engine: ${event.kind}`);
    },
    guard: (domain, event) => {
      switch (event.kind) {
        case 'breaker':
          return breaker('engine', { domain, target: event.target }, event.state);
        case 'shed':
        case 'permit':
        case 'retry':
          return;
      }
    },
    control: ({ kind, ...facts }) => {
      switch (kind) {
        case 'control-away':
          return log.warn(facts, CONTROL_WORDS[kind]);
        case 'control-corrupt':
        case 'control-unsigned':
        case 'control-restored':
        case 'control-reports-refused': {
          const line = counted(controls, facts);
          if (line !== undefined) log.warn(line, CONTROL_WORDS[kind]);
          return;
        }
        case 'control-changed':
        case 'control-back':
        case 'overlay':
          return log.info(facts, CONTROL_WORDS[kind]);
      }
    },
    drill: ({ kind, ...facts }) => {
      if (kind === 'drill-guard') log.warn(facts, 'drill: a guard is broken');
      else if (kind === 'drill-unwritten')
        log.error(facts, 'drill: its report cannot be kept; it is known until this process ends');
      else log.info(facts, kind.replace('-', ': '));
    },
    flush: ({ kind, ...facts }) => log.info(facts, `flush: ${kind}`),
    warm: ({ kind, ...facts }) => log.info(facts, kind.replaceAll('-', ' ')),
    token: ({ kind: _kind, ...facts }) => {
      const line = counted(tokens[facts.listener], facts);
      if (line === undefined) return;
      if (facts.listener === 'admin') log.warn(line, 'a token was refused');
      // Where somebody sends them to everything he asks, it is a habit and no attack.
      else log.info(line, 'a token was sent to the public listener, which takes none');
    },
  };
}

const CONTROL_WORDS: Readonly<Record<ControlEvent['kind'], string>> = {
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

type BreakerState = Extract<GuardEvent, { kind: 'breaker' }>['state'];

/** The line with how many like it were held back before it, or undefined when it is held back itself. */
function counted<T extends object>(throttle: Throttle, facts: T): (T & { readonly heldBack?: number }) | undefined {
  const heldBack = throttle.pass();
  if (heldBack === undefined) return undefined;
  return heldBack === 0 ? facts : { ...facts, heldBack };
}
