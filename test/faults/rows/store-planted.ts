import { setTimeout as sleep } from 'node:timers/promises';
import { suppress } from '../../../src/control/changes.ts';
import { type ControlDocument, emptyDocument, MAX_GENERATION } from '../../../src/control/document.ts';
import { encodeDocument } from '../../../src/control/document-codec.ts';
import { descendant } from '../../../src/control/merge.ts';
import { beginOverlay } from '../../../src/control/overlay.ts';
import type { Bed } from '../bed.ts';
import { felt } from '../felt.ts';
import type { Row } from '../row.ts';

const DOCUMENT = 'sc1:goods:{control:goods}';
const REPORTS = `${DOCUMENT}:reports`;
/** No document of the index, so that answers stay those of the control. */
const TAKEN_DOWN = 'taken-down';
const DRILL = '20260101-000000-goods-planted-aaaa';

/** What an operator has decided before: it must hold afterwards. */
const DECIDED: ControlDocument = descendant(
  suppress({ ...emptyDocument, generation: 217_000_000 }, [TAKEN_DOWN], Date.UTC(2026, 0, 1)),
  emptyDocument,
  'decided',
);

const command = (bed: Bed, ...parts: readonly string[]): Promise<unknown> => {
  const [node] = bed.store().nodes;
  if (node === undefined) throw new Error('a store has a node');
  return node.command(...parts);
};

async function put(bed: Bed, document: ControlDocument): Promise<void> {
  const { tag, value } = encodeDocument(document);
  await command(bed, 'HSET', DOCUMENT, 'tag', tag, 'value', value.toString());
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + 10_000;
  while (!(await holds())) {
    if (performance.now() > untilMs) throw new Error(`${what} did not come`);
    await sleep(20);
  }
}

const suppressed = (bed: Bed): Promise<number> => bed.subject.metric('serpcache_control_suppressed');

/** One after another, each until the subject has had two polls to look at it. */
const HOSTILE: readonly (readonly (readonly string[])[])[] = [
  plant({ revision: Number.MAX_SAFE_INTEGER, generation: MAX_GENERATION }),
  plant({ revision: 2, generation: MAX_GENERATION }),
  [['HSET', DOCUMENT, 'tag', '9-x', 'value', '{']],
  [
    ['DEL', DOCUMENT],
    ['SET', DOCUMENT, 'x'],
  ],
  [['DEL', DOCUMENT], ...plant({ revision: Number.MAX_SAFE_INTEGER, generation: MAX_GENERATION }), ['DEL', DOCUMENT]],
];
const BETWEEN_MS = 1200;

function plant(fields: Partial<ControlDocument>): readonly (readonly string[])[] {
  const { tag, value } = encodeDocument({ ...emptyDocument, stamp: 'planted', ...fields });
  return [['HSET', DOCUMENT, 'tag', tag, 'value', value.toString()]];
}

async function drillList(bed: Bed): Promise<string> {
  const response = await fetch(`${bed.subject.adminUrl}/admin/drills`, { signal: AbortSignal.timeout(5000) });
  return `${response.status} ${await response.text()}`;
}

let planted = 0;
/** Of the list of drills, while the planted report is there. */
const answers: string[] = [];

/** Somebody else writes to the control store while traffic runs, without any key of this service. */
export const STORE_PLANTED: readonly Row[] = [
  {
    name: 'planted-control-document',
    says: 'planted, damaged and deleted control documents lift no takedown, here or in a process that is started after',
    store: 'single',
    faultMs: (HOSTILE.length + 1) * BETWEEN_MS,
    begin: async (bed) => {
      await put(bed, DECIDED);
      await until('the takedown', async () => (await suppressed(bed)) === 1);
      for (const commands of HOSTILE) {
        for (const one of commands) await command(bed, ...one);
        planted += 1;
        await sleep(BETWEEN_MS);
      }
    },
    felt: felt(
      'documents planted',
      () => planted,
      (before, during) => during === before + HOSTILE.length,
    ),
    check: async (_report, bed) => {
      const broken: string[] = [];
      if ((await suppressed(bed)) !== 1) broken.push('the takedown is lifted in the process that knew it');
      await bed.restartSubject();
      await until('the control store', async () => (await bed.subject.metric('serpcache_control_revision')) > 0).catch(
        () => broken.push('a new process hears no document'),
      );
      if ((await suppressed(bed)) !== 1) broken.push('the takedown is lifted in a new process');
      return { broken };
    },
  },
  {
    name: 'planted-report',
    says: 'a report that is no head of a drill is shown as unreadable, and the list of drills answers',
    store: 'single',
    faultMs: 4000,
    begin: async (bed) => {
      const drilling = beginOverlay(
        { ...emptyDocument, generation: 217_000_000 },
        {
          ...{ drill: DRILL, owner: 'somebody', leaseMs: 2000, mode: 'drop', blackout: false },
          ...{ ranges: [], cohorts: [] },
        },
      );
      await put(bed, descendant(drilling, emptyDocument, 'planted'));
      await until('the drill', async () => (await bed.subject.metric('serpcache_control_drill_live')) === 1);
      const head = { id: DRILL, owner: 'somebody', domains: ['goods'], startedAtMs: 0, marks: [null] };
      const rest = { samples: [], learned: [], state: { kind: 'running' }, plan: { stages: [] } };
      // Entered as ours are and at once, or the next report of the subject would take it away.
      const enter = "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) redis.call('ZADD', KEYS[2], 1, ARGV[1])";
      const report = JSON.stringify({ ...head, ...rest });
      await command(bed, 'EVAL', enter, '2', REPORTS, `${REPORTS}:order`, 'drill', report);
      // An ordinary drill takes a report as it was: the second look is the one that would fail for good.
      await drillList(bed);
    },
    felt: felt(
      'the planted report in the store',
      (bed) => command(bed, 'HGET', REPORTS, 'drill').then((found) => String(found ?? '').includes('"marks":[null]')),
      (before, during) => !before && during,
    ),
    end: async (bed) => {
      // Judged while it is still there, as a row of the list and not of the log.
      const listed = await drillList(bed);
      answers.push(listed);
      await command(bed, 'DEL', DOCUMENT, REPORTS, `${REPORTS}:order`);
    },
    check: async (_report, bed) => {
      const during = answers.pop() ?? '';
      const after = await drillList(bed);
      const broken: string[] = [];
      if (!during.startsWith('200 ')) broken.push(`the list of drills answered ${during.slice(0, 100)} meanwhile`);
      else if (!/"unreadable":\[\{/.test(during)) broken.push('the list of drills does not show what is unreadable');
      if (!after.startsWith('200 ')) broken.push(`the list of drills answers ${after.slice(0, 100)} afterwards`);
      return { broken };
    },
  },
];
