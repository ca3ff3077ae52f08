import { isIP } from 'node:net';
import type { DomainSettings, EngineSettings } from '../config/settings.ts';
import type { EngineProbe } from '../operations/doctor/doctor.ts';
import type { EngineFacts } from '../operations/doctor/facts.ts';
import type { Clock } from '../runtime.ts';
import { createSphinxProbe } from './sphinx/probe.ts';
import { createSqliteProbe } from './sqlite/probe.ts';
import { indexFileOf } from './sqlite/schema.ts';

type OwnSettings = Pick<DomainSettings, 'name' | 'engine' | 'lifeboat'>;
type SphinxSettings = Exclude<EngineSettings, { readonly kind: 'sqlite' }>;

/** One index of one server, as one domain uses it. */
type Use = SphinxSettings & SphinxSettings['endpoints'][number] & { readonly domain: string };

/**
 * A probe for each index of each search server, and one for each embedded index, those of lifeboats too. Domains with the
 * same index, account and limits share a probe. Nothing is opened before the first reading.
 * @throws when the name of an index is not allowed in a statement.
 */
export function openEngineProbes(
  domains: readonly OwnSettings[],
  { clock }: { readonly clock: Clock },
): readonly EngineProbe[] {
  const uses = domains.flatMap(({ name, engine }): readonly Use[] =>
    engine.kind === 'sqlite' ? [] : engine.endpoints.map((endpoint) => ({ ...engine, ...endpoint, domain: name })),
  );
  const remote = [...Map.groupBy(uses, identityOf).values()].flatMap((same): EngineProbe[] => {
    const [first] = same;
    return first === undefined ? [] : [createSphinxProbe({ ...first, facts: factsOf(same, first), clock })];
  });
  const embedded = domains.flatMap(({ name, engine, lifeboat }) => {
    const boat = lifeboat && { ...lifeboat, maxConcurrent: lifeboat.workers, hardDeadlineMs: lifeboat.deadlineMs };
    return [
      ...(engine.kind === 'sqlite' ? [embeddedProbe(`engine of ${name}`, name, engine, clock)] : []),
      ...(boat === undefined ? [] : [embeddedProbe(`lifeboat of ${name}`, name, boat, clock)]),
    ];
  });
  return [...remote, ...embedded];
}

function identityOf(use: Use): string {
  const { host, port, kind, index, user, password, tls, maxConcurrent, deadlineMs, hardDeadlineMs } = use;
  return JSON.stringify([host, port, kind, index, user, password, tls, maxConcurrent, deadlineMs, hardDeadlineMs]);
}

function factsOf(uses: readonly Use[], { host, port, kind, index, maxConcurrent, deadlineMs, hardDeadlineMs }: Use) {
  const domains = uses.map(({ domain }) => domain);
  return {
    name: `engine of ${domains.join(', ')}`,
    domains,
    kind,
    index,
    endpoint: `${host}:${port}`,
    settings: {
      maxConcurrent,
      deadlineMs,
      hardDeadlineMs,
      hostName: isIP(host) === 0 && host !== 'localhost' ? host : undefined,
    },
  };
}

type EmbeddedSettings = EngineFacts['settings'] & { readonly directory: string };

function embeddedProbe(
  name: string,
  domain: string,
  { directory, maxConcurrent, deadlineMs, hardDeadlineMs }: EmbeddedSettings,
  clock: Clock,
): EngineProbe {
  const facts = { name, domains: [domain], index: domain, settings: { maxConcurrent, deadlineMs, hardDeadlineMs } };
  return createSqliteProbe({ file: indexFileOf(directory, domain), facts, clock });
}
