import { countText, durationText, percentText } from '../../../report/format.mjs';
import { formatDuration } from '../../../schema/units.ts';
import type { Check, Observation, Window } from '../check.ts';
import { known } from '../facts.ts';
import { fine, reasonOf, skipped, stateAbove } from '../window.ts';
import { CACHE_CHECKS } from './service-cache.ts';
import { perDomain, type ShareRule, type Traffic, tooFew } from './service-figures.ts';
import { FLEET_CHECKS } from './service-fleet.ts';

/** serpcache itself: how searches ended, permits and breakers before the engine, and the state of the process. */

// --- how searches ended -----------------------------------------------------------------------------------------------

const ERRORS: ShareRule = { raises: 0.01, clears: 0.005, least: 100 };

function errors({ subject, searches, outcomes, grown }: Traffic): Observation {
  if (searches < ERRORS.least) return tooFew(subject, searches, ERRORS.least, 'searches');
  const failed = outcomes.of('failed');
  const state = stateAbove(failed / searches, ERRORS);
  if (state === 'fine') return fine(subject);
  const [calls, failedCalls] = [grown(({ engine }) => engine.calls), grown(({ engine }) => engine.failed)];
  return {
    ...{ subject, state },
    evidence: `${countText(failed)} of ${countText(searches)} searches (${percentText(failed / searches)}) ended with an error; ${countText(failedCalls)} of ${countText(calls)} engine calls failed.`,
    figures: { failed, searches, share: failed / searches, engineCalls: calls, engineFailures: failedCalls },
    advice: [
      'See the state of the engine, and its own words in the log: npm run serpcache -- doctor --only engine,network',
      'Errors that an older page could hide: freshness.staleIfError and a lifeboat (config reference).',
    ],
  };
}

const SHED: ShareRule = { raises: 0.01, clears: 0.005, least: 100 };

function sheds({ subject, domain, now, searches, outcomes, shed }: Traffic): Observation {
  if (searches < SHED.least) return tooFew(subject, searches, SHED.least, 'searches');
  const refused = outcomes.of('shed');
  const state = stateAbove(refused / searches, SHED);
  if (state === 'fine') return fine(subject);
  const reasons = shed.text();
  return {
    ...{ subject, state },
    evidence: `${countText(refused)} of ${countText(searches)} searches (${percentText(refused / searches)}) were refused with 503; refused before the engine, refreshes included: ${reasons === '' ? 'none, so this process itself is too busy' : reasons}.`,
    figures: { shed: refused, searches, share: refused / searches, reasons },
    advice: [
      'breaker-open, stalled: the engine fails or hangs; it comes first: npm run serpcache -- doctor --only engine,network',
      `queue-full, queue-expired: a faster engine or more of them (engine.mirrors). More permits help only an engine with idle cores: domains.${domain}.engine.maxConcurrent: ${2 * now.settings.engineMaxConcurrent}`,
      'Fewer misses: a longer freshness.ttl, and a warm-up after a loss: npm run serpcache -- warm',
    ],
  };
}

const GRACE = { raises: 0.05, clears: 0.025, least: 100, troubles: 5, callShare: 0.05 };

/** Stale pages alone are the work of staleWhileRevalidate: grace masks something only while the engine fails, hangs or refuses. */
function grace({ subject, now, searches, outcomes, shed, grown }: Traffic): Observation {
  if (searches < GRACE.least) return tooFew(subject, searches, GRACE.least, 'searches');
  const [stale, lifeboat] = [outcomes.of('stale'), outcomes.of('lifeboat')];
  const state = stateAbove((stale + lifeboat) / searches, GRACE);
  const [calls, failed] = [grown(({ engine }) => engine.calls), grown(({ engine }) => engine.failed)];
  const late = grown(({ lateReplies }) => lateReplies ?? 0);
  const isTroubled = failed + late >= GRACE.callShare * calls || shed.sum > 0;
  if (state === 'fine' || failed + late + shed.sum < GRACE.troubles || !isTroubled) return fine(subject);
  const open = now.openBreakers?.engine ?? [];
  return {
    ...{ subject, state },
    evidence: `${countText(stale)} stale and ${countText(lifeboat)} lifeboat answers are ${percentText((stale + lifeboat) / searches)} of ${countText(searches)} searches, while ${countText(failed)} of ${countText(calls)} engine calls failed, ${countText(late)} replied too late and ${countText(shed.sum)} were refused${open.length > 0 ? `; its breaker is not closed: ${open.join(', ')}` : ''}.`,
    figures: { stale, lifeboat, searches, engineCalls: calls, engineFailures: failed, late, shed: shed.sum },
    advice: [
      'Clients see old pages and no error: repair the engine before the pages lapse. npm run serpcache -- doctor --only engine,network',
      `Pages are served for ${durationText(now.settings.staleMs)} after their ttl (freshness.staleIfError, freshness.staleWhileRevalidate).`,
    ],
  };
}

// --- before the engine ------------------------------------------------------------------------------------------------

/** Each endpoint of a domain gets an equal share of its permits. */
function permits({ after }: Window): readonly Observation[] {
  const servers = Map.groupBy(
    after.engines.filter(({ kind }) => kind !== 'sqlite'),
    ({ endpoint }) => endpoint,
  );
  const endpointsOf = (domain: string): number =>
    [...servers.values()].filter((parts) => parts.some(({ domains }) => domains.includes(domain))).length;
  return [...servers].map(([endpoint, parts]): Observation => {
    const subject = `engine ${endpoint}`;
    const limit = parts.map(({ maxConnections }) => known(maxConnections)).find((one) => one !== undefined);
    const [first] = parts;
    if (limit === undefined || first === undefined) {
      return skipped(subject, first === undefined ? '' : reasonOf(first.maxConnections));
    }
    const shares = new Map(
      parts.flatMap(({ domains, settings }) =>
        domains.map((domain) => [domain, Math.ceil(settings.maxConcurrent / endpointsOf(domain))] as const),
      ),
    );
    const sum = [...shares.values()].reduce((total, share) => total + share, 0);
    if (limit === 0 || sum <= limit) return fine(subject);
    return {
      ...{ subject, state: 'raise' },
      evidence: `${[...shares].map(([domain, share]) => `${domain} ${share}`).join(', ')}: ${sum} permits for a server that takes ${limit} connections.`,
      figures: { permits: sum, maxConnections: limit },
      advice: [
        `domains.${[...shares.keys()][0]}.engine.maxConcurrent: ${Math.max(1, Math.floor(limit / (2 * shares.size)))}, for each of these domains`,
        `Or in the configuration of searchd: max_children = ${2 * sum} (Manticore: max_connections)`,
      ],
    };
  });
}

const QUEUE = { waitMs: 50, clearWaitMs: 25, shed: 0.01, clearShed: 0.005, least: 50 };

function permitQueue({ subject, domain, now, searches, shed, grown }: Traffic): Observation {
  const [count, waitedMs] = [grown(({ permits: all }) => all.count), grown(({ permits: all }) => all.waitedMs)];
  const refused = shed.of('queue-full', 'queue-expired');
  if (count + refused < QUEUE.least) return tooFew(subject, count + refused, QUEUE.least, 'searches before the engine');
  const meanMs = count === 0 ? 0 : waitedMs / count;
  const share = refused / Math.max(1, searches);
  if (meanMs < QUEUE.clearWaitMs && share < QUEUE.clearShed) return fine(subject);
  const { queued, inFlight, maxConcurrent, ceiling } = now.engine;
  return {
    ...{ subject, state: meanMs >= QUEUE.waitMs || share >= QUEUE.shed ? 'raise' : 'hold' },
    evidence: `${countText(count)} engine calls waited ${durationText(meanMs)} each for a permit, and ${countText(refused)} were refused in the queue; now ${inFlight} of ${maxConcurrent} permits are in use (at most ${ceiling} in this process) and ${queued} wait.`,
    figures: { permits: count, meanWaitMs: meanMs, refused, share, inFlight, maxConcurrent, ceiling, queued },
    advice: [
      'The engine is slower than its load: its findings come first. npm run serpcache -- doctor --only engine,host',
      `When its cores are idle: domains.${domain}.engine.maxConcurrent: ${2 * now.settings.engineMaxConcurrent}`,
      `Another server with the same index: domains.${domain}.engine.mirrors: [host:9306]`,
    ],
  };
}

const OPENED = { raises: 1 };

function breakers({ subject, now, grown }: Traffic): Observation {
  const [engine, store] = [grown((facts) => facts.engineOpenings), grown((facts) => facts.storeOpenings)];
  const open = [...(now.openBreakers?.engine ?? []), ...(now.openBreakers?.store ?? [])];
  if (engine + store < OPENED.raises && open.length === 0) return fine(subject);
  return {
    ...{ subject, state: 'raise' },
    evidence: `Breakers opened ${countText(engine)} times before the engine and ${countText(store)} times before store nodes; not closed now: ${open.length === 0 ? 'none' : open.join(', ')}.`,
    figures: { engineOpenings: engine, storeOpenings: store, open: open.join(', ') },
    advice: [
      'The server behind it fails or does not answer in time; a breaker closes by itself. npm run serpcache -- doctor --only engine,store,network',
      'When it opened before: serpcache_engine_breaker_transitions_total, serpcache_store_breaker_transitions_total',
    ],
  };
}

// --- the process ------------------------------------------------------------------------------------------------------

const LATE = { raises: 0.5, clears: 0.25 };

function loopDelay({ after }: Window): readonly Observation[] {
  if (after.service === undefined) return [];
  const { processId, loop } = after.service;
  const subject = `process ${processId}`;
  const state = stateAbove(loop.delayMs / loop.maxDelayMs, LATE);
  if (state === 'fine') return [fine(subject)];
  return [
    {
      ...{ subject, state },
      evidence: `The event loop is ${durationText(loop.delayMs)} late, and was busy ${percentText(loop.utilisation)} of the time; from public.maxLoopDelay ${durationText(loop.maxDelayMs)} on only pages in memory are served.`,
      figures: { delayMs: loop.delayMs, maxDelayMs: loop.maxDelayMs, utilisation: loop.utilisation },
      advice: [
        'A busy loop needs another process beside it: one per core, behind the same balancer.',
        'A late loop that is not busy waits for the CPU: npm run serpcache -- doctor --only host (steal, throttling, other programs)',
      ],
    },
  ];
}

/** `ok` and unknown standings are fine. */
const STANDINGS: Readonly<Record<string, readonly [evidence: string, advice: string]>> = {
  unheard: [
    'The control store has not answered since the start',
    'Check its address, user and network: npm run serpcache -- doctor --only store,network',
  ],
  away: [
    'The control store does not answer; the last known document is in force',
    'Check the node that keeps it: npm run serpcache -- doctor --only store,network',
  ],
  corrupt: [
    'The stored control document is damaged or not signed with a known key',
    'Set the same signing.key in every process; the log line control-corrupt or control-unsigned has the reason.',
  ],
};

function control({ subject, domain, now }: Traffic): Observation {
  const standing = now.controlStanding;
  const [evidence, advice] = STANDINGS[standing] ?? [];
  if (evidence === undefined || advice === undefined) return fine(subject);
  return {
    ...{ subject, state: 'raise' },
    evidence: `${evidence} (${standing}).`,
    figures: { standing },
    advice: [advice, `GET /admin/domains tells since when (control.heardMsAgo of ${domain}).`],
  };
}

export const SERVICE_CHECKS: readonly Check[] = [
  {
    ...{ id: 'service-errors', area: 'service', severity: 'critical', title: 'searches end with an error' },
    needs: ['service'],
    minimum: `${ERRORS.least} searches in the window`,
    raises: `≥ ${percentText(ERRORS.raises)} failed`,
    clears: `< ${percentText(ERRORS.clears)}`,
    why: 'No tier, no engine and no lifeboat had a page for these clients.',
    source: 'chosen: one client in a hundred gets no page',
    look: perDomain(errors),
  },
  {
    ...{ id: 'service-shed', area: 'service', severity: 'warning', title: 'searches are refused' },
    needs: ['service'],
    minimum: `${SHED.least} searches in the window`,
    raises: `≥ ${percentText(SHED.raises)} answered 503 to protect the engine or this process`,
    clears: `< ${percentText(SHED.clears)}`,
    why: 'The load of misses is above what the engine clears within the patience of the clients.',
    source: 'src/README.md, “Concurrency limit and queue”: a burst within the patience is not refused',
    look: perDomain(sheds),
  },
  {
    ...{ id: 'service-grace', area: 'service', severity: 'warning', title: 'old pages mask a failing engine' },
    needs: ['service'],
    minimum: `${GRACE.least} searches in the window, and ${GRACE.troubles} failed, late or refused engine calls`,
    raises: `≥ ${percentText(GRACE.raises)} stale and lifeboat answers, while ≥ ${percentText(GRACE.callShare)} of the engine calls fail or are late, or any is refused`,
    clears: `< ${percentText(GRACE.clears)}, or an engine that answers`,
    why: 'Error rates stay at zero until the pages lapse, and then everything fails at once.',
    source: 'RFC 5861: stale-if-error hides failures by design',
    look: perDomain(grace),
  },
  {
    ...{ id: 'service-permits', area: 'service', severity: 'warning', title: 'more permits than the engine takes' },
    needs: ['engine-status', 'engine-index'],
    minimum: 'none',
    raises: 'the permits (engine.maxConcurrent) of all domains on one server are more than its connections',
    clears: 'otherwise',
    why: 'At the limit searchd refuses connections, and each refusal counts as a failure for the breaker.',
    source: 'measured: the connection above max_children gets “Too many connections”; idle ones count',
    look: permits,
  },
  {
    ...{ id: 'service-permits-queue', area: 'service', severity: 'warning', title: 'searches queue for permits' },
    needs: ['service'],
    minimum: `${QUEUE.least} searches before the engine in the window`,
    raises: `a mean wait ≥ ${QUEUE.waitMs} ms, or ≥ ${percentText(QUEUE.shed)} of the searches refused in the queue`,
    clears: `< ${QUEUE.clearWaitMs} ms and < ${percentText(QUEUE.clearShed)}`,
    why: 'The engine gets more misses than it clears; the next burst is refused.',
    source: `${formatDuration(QUEUE.waitMs)} are 6 % of the default deadline: from 4 % on for another 5 %, the queue counts as standing`,
    look: perDomain(permitQueue),
  },
  {
    ...{ id: 'service-breaker', area: 'service', severity: 'warning', title: 'breakers open' },
    ...{ needs: ['service'], minimum: 'none' },
    raises: `≥ ${OPENED.raises} opened in the window, or one is not closed at its end`,
    clears: 'all closed, and none opened in the window',
    why: 'Its server failed most of the calls shortly before; searches go without it.',
    source: 'a breaker of a healthy server does not open',
    look: perDomain(breakers),
  },
  {
    ...{ id: 'service-loop-delay', area: 'service', severity: 'warning', title: 'the event loop is late' },
    ...{ needs: ['service'], minimum: 'none' },
    raises: `a delay ≥ ${percentText(LATE.raises)} of public.maxLoopDelay`,
    clears: `< ${percentText(LATE.clears)}`,
    why: 'Every answer waits that long, hits too, and deadlines pass while replies lie in the socket.',
    source: 'admission (http/search-api/admission.ts) calls the process degraded from the same share on',
    look: loopDelay,
  },
  {
    ...{ id: 'service-control', area: 'service', severity: 'warning', title: 'the control document is not followed' },
    ...{ needs: ['service'], minimum: 'none' },
    raises: 'its standing is unheard, away or corrupt',
    clears: 'ok',
    why: 'This process does not hear of flushes, purges and suppressions of the others.',
    source: 'by definition of the standing (GET /admin/domains)',
    look: perDomain(control),
  },
  ...CACHE_CHECKS,
  ...FLEET_CHECKS,
];
