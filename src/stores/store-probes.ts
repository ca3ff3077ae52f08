import { isIP } from 'node:net';
import type { ConnectedStoreSettings, Settings, StoreSettings } from '../config/settings.ts';
import { fingerprintOf } from '../config/store-identity.ts';
import type { StoreProbe } from '../operations/doctor/doctor.ts';
import type { Runtime } from '../runtime.ts';
import { createRedisProbe } from './redis/probe.ts';

interface Use {
  /** `store`, `candidate valkey`, `control store`, `counter store`. */
  readonly part: string;
  /** Absent: the store is not a domain's. */
  readonly domain?: string;
  readonly settings: StoreSettings;
}

interface ConnectedUse extends Use {
  readonly settings: ConnectedStoreSettings;
}

/**
 * Opens a probe for each store that the settings name: of the domains, their candidates, the control documents and the
 * counts. Settings that name the same nodes and database share one, so that no node is looked at twice.
 */
export function openStoreProbes(
  { domains, control, counters }: Pick<Settings, 'domains' | 'control' | 'counters'>,
  { clock, random }: Pick<Runtime<never>, 'clock' | 'random'>,
): readonly StoreProbe[] {
  const uses: readonly Use[] = [
    ...domains.map(({ name, store }) => ({ part: 'store', domain: name, settings: store })),
    ...domains.flatMap(({ name, candidates }) =>
      candidates.map((candidate) => ({
        part: `candidate ${candidate.name}`,
        domain: name,
        settings: candidate.settings,
      })),
    ),
    { part: 'control store', settings: control },
    { part: 'counter store', settings: counters },
  ];
  const connected = uses.flatMap((use): readonly ConnectedUse[] => {
    const { settings } = use;
    return settings.kind === 'none' ? [] : [{ ...use, settings }];
  });
  return [...Map.groupBy(connected, ({ settings }) => fingerprintOf(settings)).values()].flatMap((same) => {
    // Credentials may differ from use to use; those that were made for the doctor can do the most.
    const { settings } = same.find((use) => use.settings.doctor !== undefined) ?? same[0] ?? {};
    return settings === undefined
      ? []
      : [createRedisProbe({ settings, facts: factsOf(same, settings), clock, random })];
  });
}

function factsOf(uses: readonly ConnectedUse[], settings: ConnectedStoreSettings): StoreProbe['facts'] {
  const { kind, deadlineMs } = settings;
  const domains = [...new Set(uses.flatMap(({ domain }) => domain ?? []))];
  const hosts = (kind === 'sentinel' ? settings.sentinels : settings.nodes).flatMap((at) =>
    'host' in at ? at.host : [],
  );
  return {
    name: nameOf(uses),
    domains,
    kind,
    isCache: domains.length > 0,
    settings: {
      deadlineMs,
      names: [...new Set(hosts)].filter((host) => isIP(host) === 0 && host !== 'localhost'),
    },
  };
}

/** `store of goods and jobs, control store`. */
function nameOf(uses: readonly ConnectedUse[]): string {
  const parts = [...Map.groupBy(uses, ({ part }) => part)].map(([part, same]) => {
    const domains = same.flatMap(({ domain }) => domain ?? []);
    return domains.length === 0 ? part : `${part} of ${AND.format(domains)}`;
  });
  return parts.join(', ');
}

const AND = new Intl.ListFormat('en-GB');
