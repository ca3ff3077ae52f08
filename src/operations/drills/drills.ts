import Type from 'typebox';
import type { Caller, Control } from '../../control/control.ts';
import { HALT } from '../../control/document.ts';
import { type Decoded, domainName, wallTime } from '../../schema/fields.ts';
import type { Flush } from '../flush/create-flush.ts';
import { FLUSH_PREVIEW } from '../flush/flush.ts';
import type { Figures } from '../meter/figures.ts';
import type { FleetReadings } from '../meter/meter.ts';
import { COHORT_FORECASTS } from './cohorts.ts';
import { ENDING, JOURNAL_PLAN, type Mark, VERDICT, type Verdict } from './journal.ts';
import type { Plan } from './plan.ts';

/** The plan in a request. A plan that is written out is checked here, and all its faults are named at once. */
const PLAN_CHOICE = Type.Unsafe<string | Plan>({
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 64,
  description: 'The name of a ready-made plan, or a custom plan.',
  'x-allowed': 'a text of 1 to 64 characters or a mapping',
});

export const DRILL_REQUEST = Type.Object({
  plan: PLAN_CHOICE,
  domains: Type.Optional(
    Type.Array(domainName(), {
      minItems: 1,
      maxItems: 256,
      description: 'The domain to drill. A plan over domains takes several; without this field it takes all.',
    }),
  ),
});
export type DrillRequest = Decoded<typeof DRILL_REQUEST>;

export type StartRequest = DrillRequest & Caller;

/** The dry run of a drill. */
export const DRILL_PREVIEW = Type.Object({
  plan: JOURNAL_PLAN,
  domains: Type.Array(
    Type.Object({
      domain: Type.String(),
      stages: Type.Array(Type.Object({ title: Type.String(), preview: FLUSH_PREVIEW })),
      cohorts: COHORT_FORECASTS,
    }),
  ),
  // A loss above f* at once, too little traffic, a hypothesis that fails already.
  warnings: Type.Array(Type.String(), { description: 'Reasons against the drill.' }),
});
export type DrillPreview = Decoded<typeof DRILL_PREVIEW>;

/** One line of the list of drills. */
export const DRILL_SUMMARY = Type.Object({
  id: Type.String(),
  plan: Type.String(),
  title: Type.String(),
  domains: Type.Array(Type.String()),
  startedAtMs: wallTime(),
  endedAtMs: Type.Optional(wallTime()),
  running: Type.Boolean({ description: 'False as soon as the cache is restored.' }),
  ending: Type.Optional(
    Type.Object(
      { ended: Type.Optional(ENDING) },
      {
        description:
          'The cache is restored; the last figures are being measured. `ended`: the result, when it is known.',
      },
    ),
  ),
  here: Type.Boolean({ description: 'False: another process runs the drill and has its report.' }),
  verdict: Type.Optional(VERDICT),
});
export type DrillSummary = Decoded<typeof DRILL_SUMMARY>;

const UNREADABLE_REPORT = Type.Object(
  {
    id: Type.Optional(Type.String()),
    where: Type.String({ description: 'The file, or the domain in whose control store it was.' }),
    why: Type.String(),
  },
  { description: 'A report that is damaged or was not written by serpcache.' },
);
/** Without an id: a report in a control store, where only the report itself has the id. `why` is bounded. */
export type UnreadableReport = Decoded<typeof UNREADABLE_REPORT>;

/** Newest first: drills that run here, drills of other processes, and kept reports. At most 64 are unreadable. */
export const LISTED_DRILLS = Type.Object({
  drills: Type.Array(DRILL_SUMMARY),
  unreadable: Type.Array(UNREADABLE_REPORT),
});
export type ListedDrills = Decoded<typeof LISTED_DRILLS>;

/** Whether drills are halted, and in which domains. */
export const HALT_STATE = Type.Object({
  halted: Type.Boolean({ description: 'In any domain.' }),
  domains: Type.Array(Type.Object({ domain: Type.String(), ...HALT.properties })),
});
export type HaltState = Decoded<typeof HALT_STATE>;

type MarkOf<Kind extends Mark['kind']> = Extract<Mark, { readonly kind: Kind }>;

/** Events of drills, for the audit and the log. */
export type DrillEvent =
  | {
      readonly kind: 'drill-started';
      readonly id: string;
      readonly plan: string;
      readonly domains: readonly string[];
      readonly by: string;
    }
  | ({ readonly kind: 'drill-stage'; readonly id: string } & Pick<MarkOf<'stage'>, 'domain' | 'stage' | 'title'>)
  | ({ readonly kind: 'drill-guard'; readonly id: string } & Omit<MarkOf<'guard'>, 'kind' | 'atMs'>)
  | {
      readonly kind: 'drill-ended';
      readonly id: string;
      readonly domains: readonly string[];
      readonly verdict: Verdict;
    }
  /** The report could not be written to its directory; this process keeps it in memory. */
  | { readonly kind: 'drill-unwritten'; readonly id: string; readonly detail: string };

/** The parts of one domain that a drill uses. */
export interface DrillDomain {
  readonly name: string;
  readonly control: Control;
  readonly flush: Pick<Flush, 'preview' | 'erase'>;
  readonly readings: Pick<FleetReadings, 'collect'>;
  /** Figures of this process over the last minute: the basis of a dry run. */
  readonly recent: () => Figures | undefined;
  /** Nodes of the store (`host:port`), in its order; empty without a store. */
  readonly nodes: () => readonly string[];
  /** No other application uses the store, so whole nodes may be emptied. */
  readonly dedicated: boolean;
  readonly hasStore: boolean;
  /** The longest time that a client waits for an answer. Guards on durations follow it. */
  readonly patienceMs: number;
}
