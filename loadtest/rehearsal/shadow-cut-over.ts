import { setTimeout as sleep } from 'node:timers/promises';
import { AdminProblem } from '../../src/commands/admin-client.ts';
import type { Placement } from '../../src/control/document.ts';
import type { Moved } from '../../src/operations/shadow/shadow.ts';
import { until } from '../stack/redis.ts';
import { replicaAt } from './harness.ts';
import { type Figure, percent, say } from './rehearse.ts';
import { errorFigure } from './shadow-candidate.ts';
import {
  CANDIDATE,
  endOfShadow,
  favourableAfterMs,
  type ShadowHarness,
  type ShadowRehearsal,
  sayCriteria,
  shadowOfAll,
} from './shadow-harness.ts';
import { createMarkers, whileAskingNewTexts } from './shadow-markers.ts';
import { type Window, windowDuring, windowOf, worstSecond } from './windows.ts';

/* Scenarios of the cut-over: under load and back, without one process, and to a store that dies. */

/** The replica that loses the control store. */
const CUT_OFF = 2;
const BEFORE_MS = 5000;
/** The verdict wants a thousand reads of the store. */
const VERDICT_SECONDS = 30;
const FAVOURABLE_MS = 90_000;
const NEW_TEXTS_PER_SECOND = 8;
/** Pages to purge, to suppress and to erase at each of three moments. */
const PER_KIND = 2;
const MARKERS = 3 * 3 * PER_KIND;
/** A process has heard of a change of the control document after this time: two of its polls and more. */
const HEARD_MS = 1500;
/** Longer than the lease, after which a process without the control store reads and writes both stores. */
const CUT_OFF_MS = 5000;
const POINTS = 0.02;
const MAX_CALLS_PER_KEY = 1.05;

/** From the Redis cluster to the Valkey cluster and back, while pages are removed and one replica hears nothing. */
export async function cutOverAndBack(parts: ShadowRehearsal): Promise<readonly Figure[]> {
  const { harness, load, pids } = parts;
  const { operator } = replicaAt(harness, 0);
  const cutOff = replicaAt(harness, CUT_OFF);
  const markers = createMarkers(parts);
  await shadowOfAll(harness);
  await markers.plant(MARKERS);
  const favourableMs = await favourableAfterMs(harness, VERDICT_SECONDS, FAVOURABLE_MS);
  const { verdict } = await operator.status(VERDICT_SECONDS);
  sayCriteria(verdict);
  const before = await windowOf({ load, pids }, BEFORE_MS);

  const left: string[] = [];
  const back: string[] = [];
  const noteBack = async (when: string, at?: readonly number[]): Promise<void> => {
    for (const page of await markers.returned(at)) back.push(`${when}: ${page}`);
  };
  const during = await windowDuring({ load, pids }, async () => {
    const there = await whileAskingNewTexts(parts, NEW_TEXTS_PER_SECOND, async () => {
      const moving = operator.cutOver(Number.isFinite(favourableMs) ? VERDICT_SECONDS : undefined);
      const [moved] = await Promise.all([
        moving,
        (async () => {
          // Without a preparation there is nothing to wait for: the cut-over was refused, and says why.
          await Promise.race([moving, acknowledged(harness)]);
          cutOff.control.pause();
          left.push(...(await markers.removeSome(PER_KIND)));
        })(),
      ]);
      await sleep(CUT_OFF_MS);
      return moved;
    });
    await noteBack('one replica cut off', [0, 1]);
    cutOff.control.resume();
    await phaseAtAll(harness, 'committed');
    left.push(...(await markers.removeSome(PER_KIND)));
    await sleep(HEARD_MS);
    await noteBack('on the new store');

    const again = await whileAskingNewTexts(parts, NEW_TEXTS_PER_SECOND, async () => {
      const returned = await operator.back();
      await sleep(HEARD_MS);
      return returned;
    });
    left.push(...(await markers.removeSome(PER_KIND)));
    await sleep(HEARD_MS);
    await noteBack('back on the old store');
    await operator.stop();
    await sleep(HEARD_MS);
    await noteBack('without the new store');
    return { there, again };
  });
  const { there, again } = during.result;
  const { result: moved } = there;
  for (const page of [...left, ...back]) say(page);
  say(`to be configured after the cut-over:\n${moved.configuration}`);
  for (const [name, { computedTwiceAtMs }] of Object.entries({ there, back: again })) {
    const times = computedTwiceAtMs.map((ms) => `${(ms / 1000).toFixed(1)} s`);
    if (times.length > 0) say(`${name}: computed by two replicas after ${times.join(', ')}`);
  }
  const texts = there.texts + again.texts;
  const calls = there.engineCalls + again.engineCalls;
  const searches = during.answers.length + 3 * texts;
  return [
    [
      `verdict over ${VERDICT_SECONDS} s`,
      `favourable after ${(favourableMs / 1000).toFixed(0)} s`,
      'favourable',
      Number.isFinite(favourableMs),
    ],
    movedFigure('there', moved, CANDIDATE),
    [
      'replica without the control store',
      cutOffText(moved, cutOff.pid()),
      'named as behind',
      moved.processes.some(({ id, state }) => state === 'behind' && isProcess(id, cutOff.pid())),
    ],
    movedFigure('back', again.result, 'store'),
    errorFigure('searches unanswered', during.errors + there.errors + again.errors, searches),
    hitFigure('worst second', worstSecond(during), before),
    [
      'engine queries per new text, at 3 replicas',
      `${(calls / texts).toFixed(3)} (${calls} for ${texts})`,
      `≤ ${MAX_CALLS_PER_KEY}`,
      texts > 0 && calls / texts <= MAX_CALLS_PER_KEY,
    ],
    [
      'purged, suppressed and erased pages that came back',
      `${back.length} in ${markers.probes()} answers`,
      '0',
      back.length === 0,
    ],
    ['erasures that left a copy in a store', `${left.length} of ${3 * PER_KIND}`, '0', left.length === 0],
    [
      'configuration for the new store',
      `${moved.configuration.split('\n').length} lines`,
      'printed',
      moved.configuration.includes('store:'),
    ],
  ];
}

/** Waits until every process has acknowledged the preparation. */
async function acknowledged(harness: ShadowHarness): Promise<void> {
  const { operator } = replicaAt(harness, 0);
  await until('the acknowledgements', async () => {
    const { placement, processes } = await operator.status(VERDICT_SECONDS);
    return placement?.phase === 'prepared' && processes.every(({ state }) => state === 'ok');
  });
}

/** Waits until every replica follows a placement of this phase. */
async function phaseAtAll({ replicas }: ShadowHarness, phase: Placement['phase']): Promise<void> {
  await until(`the phase ${phase}`, async () => {
    const summaries = await Promise.all(replicas.map(({ operator }) => operator.summary()));
    return summaries.every(({ placement }) => placement?.phase === phase);
  });
}

function movedFigure(where: string, { from, to, preparedMs }: Moved, expected: string): Figure {
  const prepared = preparedMs > 0 ? `, prepared for ${(preparedMs / 1000).toFixed(1)} s` : '';
  return [
    `cut over, ${where}`,
    `${from.name} → ${to.name}${prepared}`,
    `to ${expected}`,
    to.name === expected && from.name !== expected,
  ];
}

function cutOffText({ processes }: Moved, pid: number | undefined): string {
  return processes.find(({ id }) => isProcess(id, pid))?.problem ?? 'followed';
}

/** The id of a process ends with its pid. */
function isProcess(id: string, pid: number | undefined): boolean {
  return pid !== undefined && id.endsWith(pid.toString(36));
}

function hitFigure(what: string, ratio: number, before: Pick<Window, 'hitRatio'>): Figure {
  return [
    `hit ratio, ${what}`,
    `${percent(ratio)}, before ${percent(before.hitRatio)}`,
    'within 2 points',
    ratio >= before.hitRatio - POINTS,
  ];
}

/** A process that hears nothing of the preparation: the cut-over is refused, and the process is named. */
export async function laggard({ harness, load, pids }: ShadowRehearsal): Promise<readonly Figure[]> {
  const { operator } = replicaAt(harness, 0);
  const cutOff = replicaAt(harness, CUT_OFF);
  await shadowOfAll(harness);
  await sleep(HEARD_MS);
  const before = await windowOf({ load, pids }, BEFORE_MS);
  const during = await windowDuring({ load, pids }, async () => {
    cutOff.control.pause();
    const refused = await refusalOf(operator.cutOver());
    const { placement, active } = await operator.summary();
    cutOff.control.resume();
    await sleep(HEARD_MS);
    return { refused, placement, active };
  });
  const { refused, placement, active } = during.result;
  await endOfShadow(harness);
  const named = cutOff.pid()?.toString(36) ?? 'unknown';
  return [
    [
      'cut-over without one process',
      refused === undefined ? 'done' : `${refused.code}: ${refused.message}`,
      'refused, the process is named',
      refused?.code === 'cut-over-behind' && refused.message.includes(`${named}:`),
    ],
    [
      'store afterwards',
      placement === undefined ? active.name : `${active.name}, ${placement.phase}`,
      'as before',
      placement === undefined && active.name !== CANDIDATE,
    ],
    errorFigure('searches unanswered', during.errors, during.answers.length),
    hitFigure('worst second', worstSecond(during), before),
  ];
}

async function refusalOf(call: Promise<unknown>): Promise<AdminProblem | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof AdminProblem) return error;
    throw error;
  }
}

const DEAD_MS = 10_000;

/** The new store dies after the commit: the old one has every page, and one command leads back. */
export async function killedAfterCommit({ harness, load, pids }: ShadowRehearsal): Promise<readonly Figure[]> {
  const { operator } = replicaAt(harness, 0);
  const { candidate } = harness;
  await shadowOfAll(harness);
  await favourableAfterMs(harness, VERDICT_SECONDS, FAVOURABLE_MS);
  await operator.cutOver();
  const before = await windowOf({ load, pids }, BEFORE_MS);
  const killed = await windowDuring({ load, pids }, async () => {
    await Promise.all(candidate.nodes.map((node) => node.kill()));
    await sleep(DEAD_MS);
  });
  const returned = await windowDuring({ load, pids }, () => operator.back());
  const after = await windowOf({ load, pids }, BEFORE_MS);
  const refused = await refusalOf(operator.stop());
  await Promise.all(candidate.nodes.map((node) => node.restart()));
  if (refused !== undefined) await until('the end', async () => (await refusalOf(operator.stop())) === undefined);
  const errors = killed.errors + returned.errors + after.errors;
  const searches = killed.answers.length + returned.answers.length + after.answers.length;
  return [
    errorFigure('searches unanswered', errors, searches),
    hitFigure(`through the old store, ${DEAD_MS / 1000} s`, killed.hitRatio, before),
    movedFigure('back', returned.result, 'store'),
    hitFigure('worst second after the way back', worstSecond(after), before),
    ['end of the cut-over, the new store still dead', refused?.message ?? 'done', 'done', refused === undefined],
  ];
}
