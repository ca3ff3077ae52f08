import type { ComposedDomain } from './compose-domain.ts';
import type { ComposedDomainOperations } from './compose-domain-operations.ts';
import type { Settings } from './config/settings.ts';
import { summaryOf } from './control/control.ts';
import { OperationRefused } from './control/operation-error.ts';
import type { Audit } from './operations/audit/audit.ts';
import { createDrills } from './operations/drills/create-drills.ts';
import type { DrillEvent } from './operations/drills/drills.ts';
import { reportPage } from './operations/drills/report/report-page.ts';
import { figuresBetween, type MeterReading } from './operations/meter/figures.ts';
import type { DomainLook, Operations, Watcher } from './operations/operations.ts';
import type { WarmEvent } from './operations/warm/warm.ts';
import { createWarmUps } from './operations/warm/warm-ups.ts';
import type { Clock } from './runtime.ts';

/** Everything operators may do, over all domains: the one core under the API, the CLI and the console. */
export interface ComposedOperations extends Operations {
  /** Rolls back the drills of this process, within a second or so, and ends everything else. */
  readonly close: () => Promise<void>;
}

export interface OperationsComposition {
  readonly clock: Clock;
  readonly random: () => number;
  readonly processId: string;
  readonly audit: Audit;
  readonly observeDrill: (event: DrillEvent) => void;
  readonly observeWarm: (event: WarmEvent) => void;
}

export interface OperatedDomain {
  readonly part: ComposedDomain;
  readonly operations: ComposedDomainOperations;
}

export function composeOperations(
  domains: readonly OperatedDomain[],
  { directory, keep, leaseMs }: Settings['drills'],
  { clock, random, processId, audit, observeDrill, observeWarm }: OperationsComposition,
): ComposedOperations {
  const byName = new Map(domains.map(({ part, operations }) => [part.domain.name, operations]));
  const names = [...byName.keys()];
  const drills = createDrills({
    domains: domains.map(({ operations }) => operations.drilled),
    directory,
    keep,
    reportPage,
    leaseMs,
    processId,
    clock,
    random,
    observe: (event) => {
      observeDrill(event);
      // How a drill ended is the doing of nobody who asked for it.
      if (event.kind !== 'drill-ended') return;
      const { id, domains: drilled, verdict } = event;
      audit.record({
        action: 'drill-ended',
        ...(drilled.length === 1 && drilled[0] !== undefined ? { domain: drilled[0] } : {}),
        target: id,
        by: 'serpcache',
        result: verdict.kind,
        after: verdict,
      });
    },
  });
  const warm = createWarmUps({
    domains: new Map(domains.map(({ part, operations }) => [part.domain.name, operations.warmed])),
    clock,
    random,
    observe: observeWarm,
  });

  const watch = (): Watcher => {
    let before = new Map<string, MeterReading>();
    return {
      look: () => {
        const after = new Map(domains.map(({ part }) => [part.domain.name, part.meter.read()]));
        const looks = domains.map(({ part }): DomainLook => {
          const { name } = part.domain;
          const [then, now] = [before.get(name), after.get(name)];
          const known = then !== undefined && now !== undefined;
          return {
            domain: name,
            ...(known ? { figures: figuresBetween(new Map([[name, then]]), new Map([[name, now]])) } : {}),
            status: part.status(),
            control: summaryOf(part.control),
          };
        });
        before = after;
        return looks;
      },
    };
  };

  return {
    domains: names,
    domain: (name) => {
      const found = byName.get(name);
      if (found !== undefined) return found;
      throw new OperationRefused('unknown-domain', `domain must be one of: ${names.join(', ')}`, '/domain');
    },
    drills,
    warm,
    watch,
    close: async () => {
      warm.close();
      await drills.close();
      for (const { operations } of domains) operations.close();
    },
  };
}
