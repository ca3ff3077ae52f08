import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { Control } from '../../control/control.ts';
import type { Placement } from '../../control/document.ts';
import type { Clock } from '../../runtime.ts';
import type { Decoded } from '../../schema/fields.ts';
import { type Reading, readReading } from './readings.ts';
import type { ProcessState } from './shadow.ts';

const HEARTBEAT = Type.Object({
  // Rises with each report: the control store keeps the reports of dead processes as long as others report.
  count: Type.Number(),
  revision: Type.Number(),
  // The store of its configuration.
  configured: Type.String(),
  // The placement that it follows.
  placement: Type.Optional(Type.Unsafe<Pick<Placement, 'id' | 'phase'>>(Type.Object({}))),
  // Why it cannot follow the document, or not reach a store that the document names.
  problem: Type.Optional(Type.String()),
  reading: Type.Optional(Type.Unknown()),
});
type Heartbeat = Decoded<typeof HEARTBEAT>;

const shape = Compile(HEARTBEAT);

/** The part of the present document that a process acknowledges. */
interface Acknowledged {
  readonly placement: Placement | undefined;
  readonly isShadowed: boolean;
}

interface HeartbeatsOptions {
  readonly control: Pick<Control, 'report' | 'reports'>;
  readonly processId: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

const PREFIX = 'shadow:';
/** A process whose heartbeat has not changed for this time is behind, whatever it said last. */
const SILENT_MS = 4000;
/** Maximum length of the words of another process. */
const MAX_PROBLEM = 300;

/** The reports of the processes of a domain to each other, through the control store. */
export function createShadowHeartbeats({ control, processId, clock }: HeartbeatsOptions) {
  let sent = 0;
  /** The time at which each heartbeat was last seen to change. */
  const changes = new Map<string, { readonly count: number; readonly atMs: number }>();

  const read = async (): Promise<ReadonlyMap<string, Heartbeat> | undefined> => {
    const reports = await control.reports();
    if (reports === undefined) return undefined;
    const found = new Map(
      [...reports].flatMap(([id, value]): [string, Heartbeat][] =>
        id.startsWith(PREFIX) && shape.Check(value) ? [[id.slice(PREFIX.length), value]] : [],
      ),
    );
    const nowMs = clock.monotonicMs();
    for (const id of changes.keys()) if (!found.has(id)) changes.delete(id);
    for (const [id, { count }] of found) {
      if (changes.get(id)?.count !== count) changes.set(id, { count, atMs: nowMs });
    }
    return found;
  };

  const silentMs = (id: string): number => {
    const changed = changes.get(id);
    return id === processId || changed === undefined ? 0 : clock.monotonicMs() - changed.atMs;
  };

  /** Processes beat in the stores that they use. One that uses another store is known by its reports alone. */
  const allIds = (found: ReadonlyMap<string, Heartbeat>, live: ReadonlySet<string>): readonly string[] => {
    const reporting = [...found.keys()].filter((id) => silentMs(id) <= SILENT_MS);
    return [...new Set([...live, ...reporting, processId])].sort();
  };

  return {
    send: async (beat: Omit<Heartbeat, 'count'>) => {
      sent += 1;
      await control.report(`${PREFIX}${processId}`, { count: sent, ...beat } satisfies Heartbeat);
      // Read as often as they are sent: a silent process is known before anyone asks.
      await read();
    },
    /** The readings of all processes for the shadow of `own`, which is that of this process. Silent ones are left out. */
    readings: async (own: Reading): Promise<ReadonlyMap<string, Reading>> => {
      const found = await read();
      const others = [...(found ?? [])].flatMap(([id, { reading }]): [string, Reading][] => {
        const known = silentMs(id) > SILENT_MS ? undefined : readReading(reading, own.shadow);
        return known === undefined ? [] : [[id, known]];
      });
      return new Map([...others, [processId, own]]);
    },
    /**
     * The live processes, and whether each follows this placement. Undefined: they are not known, because the stores in use or
     * the control store do not answer. @param live ids by the heartbeats in the stores in use
     */
    processes: async (live: ReadonlySet<string> | undefined, asked: Acknowledged) => {
      const found = await read();
      if (found === undefined || live === undefined) return undefined;
      return allIds(found, live).map((id) => stateOf(id, found.get(id), { ...asked, silentMs: silentMs(id) }));
    },
    /** Whether every live process has this store in its configuration. */
    allConfigured: async (live: ReadonlySet<string> | undefined, fingerprint: string): Promise<boolean> => {
      const found = await read();
      if (found === undefined || live === undefined) return false;
      return allIds(found, live).every((id) => found.get(id)?.configured === fingerprint);
    },
  };
}

/** A process that has not heard of the placement, cannot follow it, or says nothing any more is behind. */
function stateOf(
  id: string,
  beat: Heartbeat | undefined,
  { placement, isShadowed, silentMs }: Acknowledged & { readonly silentMs: number },
): ProcessState {
  const behind = (problem: string): ProcessState => ({ id, state: 'behind', problem });
  const problem = beat?.problem?.slice(0, MAX_PROBLEM);
  if (placement === undefined) return isShadowed && problem !== undefined ? behind(problem) : { id, state: 'ok' };
  if (beat === undefined) {
    return behind('it acknowledges nothing: it is cut off from the control store, declares no candidates or is older');
  }
  if (silentMs > SILENT_MS) {
    const seconds = Math.round(silentMs / 1000);
    return behind(`it has been silent for ${seconds} s: it is cut off from the control store, or stands still`);
  }
  if (problem !== undefined) return behind(problem);
  const isFollowing = beat.placement?.id === placement.id && beat.placement.phase === placement.phase;
  return isFollowing
    ? { id, state: 'ok' }
    : behind(`it still follows revision ${beat.revision} of the control document`);
}
