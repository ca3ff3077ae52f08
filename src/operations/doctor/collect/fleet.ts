import { hash } from 'node:crypto';
import Type from 'typebox';
import { Check } from 'typebox/value';
import type { Settings } from '../../../config/settings.ts';
import type { Control } from '../../../control/control.ts';
import { type Clock, repeat } from '../../../runtime.ts';
import type { Decoded } from '../../../schema/fields.ts';
import type { Figure, FleetProcess } from '../facts.ts';

/** The processes that share a control store, as each describes itself there. */
export type Fleet = ReturnType<typeof createFleet>;

const PREFIX = 'doctor:';
/** A report of another format is not read. */
const FORMAT = 1;
/** Half of the time for which the control store keeps reports. */
const INTERVAL_MS = 5000;
/** Intervals without a new report after which a process is left out. */
const MAX_SILENT = 3;
/** More processes than any fleet has; the control store keeps no more reports. */
const MAX_PROCESSES = 256;
const MAX_FLEET_TEXT = 64;

/** One process's description. Others may write to the store: a long text, or a number that is none, goes no further. */
const HELLO = Type.Object({
  format: Type.Literal(FORMAT),
  /** Rises with each report: the control store keeps the reports of dead processes as long as others report. */
  count: Type.Integer({ maximum: Number.MAX_SAFE_INTEGER }),
  configuration: Type.String({ minLength: 1, maxLength: MAX_FLEET_TEXT }),
});
type Hello = Decoded<typeof HELLO>;
const isHello = (value: unknown): value is Hello => Check(HELLO, value);

export function createFleet(options: {
  readonly processId: string;
  /** `configurationDigest` of its settings. */
  readonly configuration: string;
  /** The control of each domain: processes that share one domain know each other by it. */
  readonly controls: readonly Pick<Control, 'state' | 'report' | 'reports'>[];
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
}) {
  const { processId, configuration, controls, clock, random } = options;
  let sent = 0;
  /** By id: the first count that was seen, and the time at which the count last rose. */
  const seen = new Map<string, { readonly first: number; readonly count: number; readonly atMs: number }>();

  /** Reports go to shared control stores only. `shared` is constant for the life of a process. */
  const shared = controls.filter((control) => control.state().shared);

  /** The last description of every process; undefined when no control store answers. */
  const collect = async (): Promise<ReadonlyMap<string, Hello> | undefined> => {
    const answers = (await Promise.all(shared.map((control) => control.reports('doctor')))).filter(
      (one) => one !== undefined,
    );
    if (answers.length === 0) return undefined;
    const hellos = new Map<string, Hello>();
    for (const [name, value] of answers.flatMap((reports) => [...reports])) {
      const id = name.slice(PREFIX.length);
      if (!name.startsWith(PREFIX) || id === processId || id.length > MAX_FLEET_TEXT || !isHello(value)) continue;
      if ((hellos.get(id)?.count ?? -1) < value.count && hellos.size < MAX_PROCESSES) hellos.set(id, value);
    }
    const nowMs = clock.monotonicMs();
    for (const id of seen.keys()) if (!hellos.has(id)) seen.delete(id);
    for (const [id, { count }] of hellos) {
      const before = seen.get(id);
      if (before?.count !== count) seen.set(id, { first: before?.first ?? count, count, atMs: nowMs });
    }
    return hellos;
  };

  /** The first report that is seen may be of a process that is dead; the second one is not. */
  const isLive = (id: string): boolean => {
    const known = seen.get(id);
    const silentMs = known === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - known.atMs;
    return known !== undefined && known.count !== known.first && silentMs <= MAX_SILENT * INTERVAL_MS;
  };

  const report = async (): Promise<void> => {
    sent += 1;
    const hello: Hello = { format: FORMAT, count: sent, configuration };
    await Promise.all(shared.map((control) => control.report(`${PREFIX}${processId}`, hello, 'doctor')));
    // Read as often as they are sent, so that a silent process is known before anyone asks.
    await collect();
  };
  /** A report that cannot be sent is missed once. */
  const tryReport = (): Promise<void> => report().catch(() => undefined);
  const endReports =
    shared.length > 0
      ? repeat(tryReport, () => INTERVAL_MS * (0.9 + 0.2 * random()), INTERVAL_MS * 0.2 * random())
      : undefined;

  return {
    /** This process first. Another one is known from its second report on, and until it has been silent for a while. */
    read: async (): Promise<Figure<readonly FleetProcess[]>> => {
      const self = { id: processId, configuration };
      if (shared.length === 0) return { known: [self] };
      const hellos = await collect();
      if (hellos === undefined) return { skipped: 'the control store does not answer' };
      const others = [...hellos].flatMap(([id, hello]) =>
        isLive(id) ? [{ id, configuration: hello.configuration }] : [],
      );
      return { known: [self, ...others.sort((a, b) => (a.id < b.id ? -1 : 1))] };
    },
    close: () => endReports?.(),
  };
}

// --- the digest -------------------------------------------------------------------------------------------------------

/** Sections that may differ between the processes of a fleet. */
const OWN_SECTIONS: ReadonlySet<string> = new Set(['admin', 'log', 'audit', 'doctor']);
/** Members at any depth that are secrets, credentials or paths, under the names of the configuration. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(
  'username password sentinelUsername sentinelPassword user key previousKey tls doctor directory'.split(' '),
);
/** Lists whose order says nothing. */
const UNORDERED: ReadonlySet<string> = new Set(['nodes', 'sentinels', 'endpoints', 'candidates']);

/**
 * 16 base64url characters, alike for all processes with the same configuration. Addresses of the listeners, the log, credentials, TLS
 * and paths may differ between them.
 */
export function configurationDigest(settings: Settings): string {
  const { host: _host, port: _port, ...publicLimits } = settings.public;
  const sections = Object.entries({ ...settings, public: publicLimits }).filter(([name]) => !OWN_SECTIONS.has(name));
  const digest = hash('sha256', canonicalJson(Object.fromEntries(sections)), 'buffer');
  return digest.subarray(0, 12).toString('base64url');
}

/** JSON with the members in the order of their names. */
function canonicalJson(value: unknown, name = ''): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonicalJson(item));
    return `[${(UNORDERED.has(name) ? items.sort() : items).join()}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([member, own]) => own !== undefined && !OWN_MEMBERS.has(member))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([member, own]) => `${JSON.stringify(member)}:${canonicalJson(own, member)}`);
  return `{${members.join()}}`;
}
