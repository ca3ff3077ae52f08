import { compareAll } from './compare.ts';
import { noiseWords } from './noise.ts';
import type { Outcome } from './outcome.ts';
import type { Sizes } from './sizes.ts';
import type { Stampeded } from './stampede.ts';

/** What a reader has to know, then how each was set up, then what could not be measured. */
export function notesOf(outcomes: readonly Outcome[], sizes: Sizes): string[] {
  return [
    'Servers share one half of the processors and have nothing else there; clients, stores, the origin and searchd have the other. ' +
      'Requests per core are requests by the processor time of all processes of the server; a store is not among them and stands apart.',
    'Full is whoever used 85 % of what it could have: one core where it has one thread for its work (wrk, the store, nginx with its one worker, Node), ' +
      'all of its half where it has more (Varnish). Where it is the client, the server can do more requests a second than the row says; requests per core do not depend on it.',
    `All peers run at the same time and take turns, ${sizes.rounds} rounds of wrk with 64 connections; the best of each is shown. ` +
      `p50 and p99 are of a client of Node that asks ${sizes.perSecond} times a second whatever is answered: about 0.1 ms of each is its own.`,
    noiseWords(compareAll(outcomes)),
    'Pages in turn are the same number for all; whether they come from the store is measured: store commands per request. What comes from the ' +
      'store is compared with what does as well: where both serpcaches have it in the process (one page, expired pages) with nothing.',
    'Memory of a page is what resident memory grew by, for each page that is still there afterwards. Processes of Node are made to collect ' +
      'their garbage before and after, or their growth would say nothing about pages; what such a replica takes with its garbage is the last column. ' +
      'Files (nginx) count as well: they are read from memory of the system that no process is charged with.',
    'Engine queries are counted before searchd, those that follow after the answers too, and divided by the pages that anybody got: who refuses everybody must not look thrifty. The origin asks at most eight at once, and so do all replicas of one serpcache together. ' +
      'serpcache asks searchd itself: the way through the origin is in the times of misses of all others, and not in its own.',
    'Fresh again: from the revival to the first answer that a search of the revived engine is behind, looked for every 50 ms.',
    ...outcomes.map(({ peer }) => `${peer.name}: ${peer.setUp}`),
    ...outcomes.flatMap((outcome) => oddities(outcome).map((one) => `${outcome.peer.name}: ${one}`)),
  ];
}

/** What could not be measured, and what a share of failures was made of. */
function oddities({ problems, stampede, dead }: Outcome): string[] {
  const odd = (name: string, one: Stampeded | undefined): string[] => [
    ...(one === undefined || one.failedShare === 0
      ? []
      : [`after the purge, asked for ${name}, it answered ${one.outcome}`]),
    ...(one === undefined || one.purgeRefusals === 0
      ? []
      : [`before it was asked for ${name} it refused to be purged ${one.purgeRefusals} times`]),
  ];
  const isLate = dead !== undefined && dead.freshShare === undefined;
  return [
    ...problems,
    ...odd('one page', stampede?.hot),
    ...odd('many', stampede?.many),
    ...(isLate ? ['this machine was too slow to ask for all pages without an engine while they were fresh'] : []),
  ];
}
