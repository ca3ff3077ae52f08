import type { Outcome } from '../../../search/outcome.ts';
import type { Check, Observation, Window } from '../check.ts';
import type { DomainFacts } from '../facts.ts';
import { type DomainView, domainsOf, grownBy, grownEach, skipped } from '../window.ts';

/** The counters of one domain in a window, as the checks of serpcache itself share them. */

export const NO_PAIR = 'no two readings of one process';

/** The growth of one domain's counters in a window. */
export interface Traffic {
  readonly subject: string;
  readonly domain: string;
  readonly now: DomainFacts;
  readonly seconds: number;
  /** Searches that the service itself answered or refused: invalid ones, and those whose client left, are not counted. */
  readonly searches: number;
  readonly outcomes: Counted<Outcome>;
  readonly shed: Counted;
  readonly misses: Counted;
  readonly reads: Counted;
  /** By the bounds of the meter. */
  readonly readDurations: readonly number[];
  readonly notStored: Counted;
  readonly grown: (of: (facts: DomainFacts) => number) => number;
}

interface Counted<Name extends string = string> {
  readonly sum: number;
  readonly of: (...names: readonly Name[]) => number;
  /** `queue-expired 30, queue-full 2`; most first. */
  readonly text: (...names: readonly Name[]) => string;
}

/** One observation for each domain; skipped without an earlier reading of this process. */
export function perDomain(look: (traffic: Traffic, window: Window) => Observation): Check['look'] {
  return (window) =>
    domainsOf(window).map((view) => {
      const traffic = trafficOf(view);
      return traffic === undefined ? skipped(view.subject, NO_PAIR) : look(traffic, window);
    });
}

function trafficOf(view: DomainView): Traffic | undefined {
  const { now, before, subject, seconds } = view;
  if (before === undefined) return undefined;
  const outcomes = counted<Outcome>(grownEach(now.outcomes, before.outcomes));
  return {
    ...{ subject, domain: now.domain, now, seconds, outcomes },
    searches: outcomes.sum - outcomes.of('rejected', 'aborted'),
    shed: counted(grownEach(now.shed, before.shed)),
    misses: counted(grownEach(now.misses, before.misses)),
    reads: counted(grownEach(now.reads, before.reads)),
    readDurations: now.readDurations.map((count, at) => Math.max(0, count - (before.readDurations[at] ?? 0))),
    notStored: counted(grownEach(now.notStored, before.notStored)),
    grown: (of) => grownBy(view, of) ?? 0,
  };
}

function counted<Name extends string = string>(counts: Readonly<Record<string, number>>): Counted<Name> {
  const of = (...names: readonly Name[]): number => names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
  return {
    sum: Object.values(counts).reduce((sum, count) => sum + count, 0),
    of,
    text: (...names) =>
      (names.length === 0 ? (Object.keys(counts) as Name[]) : names)
        .filter((name) => of(name) > 0)
        .toSorted((a, b) => of(b) - of(a))
        .map((name) => `${name} ${of(name)}`)
        .join(', '),
  };
}

/** Thresholds of a share. */
export interface ShareRule {
  readonly raises: number;
  readonly clears: number;
  /** The least number of which the share is taken. */
  readonly least: number;
}

export function tooFew(subject: string, count: number, least: number, what: string): Observation {
  return skipped(subject, `${count} ${what} in the window, fewer than ${least}`);
}
