import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../../loadtest/http-driver/client.ts';
import { suppress } from '../../../src/control/changes.ts';
import { type ControlDocument, emptyDocument, MAX_GENERATION } from '../../../src/control/document.ts';
import { encodeDocument } from '../../../src/control/document-codec.ts';
import { descendant } from '../../../src/control/merge.ts';
import { beginOverlay } from '../../../src/control/overlay.ts';
import { until } from '../../until.ts';
import { HUNG_MS } from '../configuration.ts';
import { allEffects, faultEffect } from '../fault-effects.ts';
import { searchPath } from '../harness.ts';
import type { Harness, Row } from '../row.ts';
import { forgeEntry, pageBodyOf, type RewriteEntry, rewriteEntries, withWrongId } from '../store-entries.ts';
import { overwritten } from './store-values.ts';

/** Maximum value of a 32-bit field of the format. */
const MAX_UINT32 = 0xffff_ffff;
const FIVE_HOURS_MS = 5 * 3_600_000;
const MAX_ENTRY_BYTES = 64 * 1024;
/** Admin token for the purges. */
const TOKEN = 'the-operators-of-this-row';
/** The forged ETag as the subject sends it: 16 characters of base64url. */
const FORGED_ETAG_TEXT = 'planted-planted-';
const FORGED_ETAG = Buffer.from(FORGED_ETAG_TEXT, 'base64url');
/** Maximum number of purges by this row; a control document holds 256. */
const MAX_PURGED = 60;
/** Miss reasons of the forged entries. Each must be counted. */
const REASONS = ['flushed', 'expired', 'oversized', 'corrupt'] as const;

const purgesHeld = faultEffect(
  'purges that the subject follows',
  (harness) => harness.subject.metric('serpcache_control_purges'),
  (before, during) => during > before,
);

/**
 * A foreign client that knows the format overwrites every entry; then some texts are purged, and the client overwrites
 * their entries again. Before the purge the service must accept entries with the highest generation, because a checksum
 * does not identify the author, so those have the correct page. All other forged entries have a wrong page.
 */
function plantedEntries(): Row {
  let returned: readonly string[] = [];
  let asked = 0;
  return {
    name: 'planted-entries',
    summary:
      'entries that claim any generation, lifetime or size outlive neither a purge nor the policy of their domain',
    changes: { admin: { token: TOKEN }, domain: { maxEntryBytes: MAX_ENTRY_BYTES } },
    begin: async (harness) => {
      const texts: string[] = [];
      await rewriteEntries(harness.store(), forgeEach(texts));
      const purged = new Set(texts.slice(0, MAX_PURGED));
      for (const text of purged) await purge(harness, text);
      returned = await plantedAnswers(harness, [...purged]);
      asked = purged.size;
      await rewriteEntries(harness.store(), (value) => {
        const body = pageBodyOf(value);
        return purged.has(textOf(body)) ? forgeEntry(value, { ...NEWEST, body: withWrongId(body) }) : undefined;
      });
    },
    effect: allEffects(overwritten, purgesHeld),
    check: async (_report, harness) => {
      const counts = await Promise.all(
        REASONS.map((reason) => harness.subject.metric('serpcache_misses_total', { reason })),
      );
      const uncounted = REASONS.filter((_, at) => counts[at] === 0);
      return {
        broken: [
          ...(returned.length > 0 ? [`${returned.length} of ${asked} purged pages returned, as ${returned[0]}`] : []),
          ...(uncounted.length > 0 ? [`no miss was counted as ${uncounted.join(', ')}`] : []),
        ],
        unmeasured: asked === 0 ? ['purged pages'] : [],
      };
    },
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  };
}

const NEWEST = { generation: MAX_UINT32, lifetimesMs: MAX_UINT32 };

/** @param texts collects the searches whose pages got the highest generation. */
function forgeEach(texts: string[]): RewriteEntry {
  return (value, other, at) => {
    const body = pageBodyOf(value);
    switch (at % 4) {
      case 0:
        texts.push(textOf(body));
        return forgeEntry(value, { ...NEWEST, etag: FORGED_ETAG });
      case 1:
        return forgeEntry(value, {
          lifetimesMs: MAX_UINT32,
          createdAtMs: Date.now() - FIVE_HOURS_MS,
          body: withWrongId(body),
        });
      case 2:
        return forgeEntry(value, { ...NEWEST, body: Buffer.concat([body, Buffer.alloc(MAX_ENTRY_BYTES, ' ')]) });
      default:
        return other;
    }
  };
}

function textOf(body: Buffer): string {
  const page: unknown = JSON.parse(body.toString('utf8'));
  const text = typeof page === 'object' && page !== null && 'query' in page ? page.query : undefined;
  if (typeof text !== 'string') throw new Error('a stored page that does not say its search');
  return text;
}

async function purge({ subject }: Harness, text: string): Promise<void> {
  const response = await fetch(`${subject.adminUrl}/admin/purge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ domain: 'goods', q: text }),
    signal: AbortSignal.timeout(HUNG_MS),
  });
  if (!response.ok) throw new Error(`a purge was refused: ${response.status} ${await response.text()}`);
}

/** Searches whose answer has the forged ETag. */
async function plantedAnswers({ subject }: Harness, texts: readonly string[]): Promise<readonly string[]> {
  const client = createClient({ baseUrl: subject.url, patienceMs: HUNG_MS, maxConnections: 4 });
  try {
    const planted: string[] = [];
    for (const text of texts) {
      const reply = await client.get(searchPath(text));
      if (reply.kind === 'answer' && String(reply.headers.etag).includes(FORGED_ETAG_TEXT)) planted.push(text);
    }
    return planted;
  } finally {
    client.close();
  }
}

const DOCUMENT = 'sc1:goods:{control:goods}';
const REPORTS = `${DOCUMENT}:reports`;
/** Not a document of the index, so the pages stay equal to the control's. */
const SUPPRESSED_ID = 'taken-down';
const DRILL = '20260101-000000-goods-planted-aaaa';

/** The operator's document before the fault. It must still be in force afterwards. */
const OPERATOR_DOCUMENT: ControlDocument = descendant(
  suppress({ ...emptyDocument, generation: 217_000_000 }, [SUPPRESSED_ID], Date.UTC(2026, 0, 1)),
  emptyDocument,
  'decided',
);

const command = (harness: Harness, ...parts: readonly string[]): Promise<unknown> => {
  const [node] = harness.store().nodes;
  if (node === undefined) throw new Error('a store has a node');
  return node.command(...parts);
};

async function writeDocument(harness: Harness, document: ControlDocument): Promise<void> {
  const { tag, value } = encodeDocument(document);
  await command(harness, 'HSET', DOCUMENT, 'tag', tag, 'value', value.toString());
}

const suppressed = (harness: Harness): Promise<number> => harness.subject.metric('serpcache_control_suppressed');

/** Hostile writes, one after the other, each long enough for two polls of the subject. */
const HOSTILE_WRITES: readonly (readonly (readonly string[])[])[] = [
  forgeDocument({ revision: Number.MAX_SAFE_INTEGER, generation: MAX_GENERATION }),
  forgeDocument({ revision: 2, generation: MAX_GENERATION }),
  [['HSET', DOCUMENT, 'tag', '9-x', 'value', '{']],
  [
    ['DEL', DOCUMENT],
    ['SET', DOCUMENT, 'x'],
  ],
  [
    ['DEL', DOCUMENT],
    ...forgeDocument({ revision: Number.MAX_SAFE_INTEGER, generation: MAX_GENERATION }),
    ['DEL', DOCUMENT],
  ],
];
const BETWEEN_MS = 1200;

function forgeDocument(fields: Partial<ControlDocument>): readonly (readonly string[])[] {
  const { tag, value } = encodeDocument({ ...emptyDocument, stamp: 'planted', ...fields });
  return [['HSET', DOCUMENT, 'tag', tag, 'value', value.toString()]];
}

async function readDrillList(harness: Harness): Promise<string> {
  const response = await fetch(`${harness.subject.adminUrl}/admin/drills`, { signal: AbortSignal.timeout(5000) });
  return `${response.status} ${await response.text()}`;
}

let planted = 0;
/** Responses of the list of drills while the planted report is stored. */
const drillResponses: string[] = [];

/** A foreign client without a signing key writes to the store and to the control store under load. */
export const STORE_PLANTED: readonly Row[] = [
  plantedEntries(),
  {
    name: 'planted-control-document',
    summary:
      'planted, damaged and deleted control documents lift no takedown, here or in a process that is started after',
    store: 'single',
    faultMs: (HOSTILE_WRITES.length + 1) * BETWEEN_MS,
    begin: async (harness) => {
      await writeDocument(harness, OPERATOR_DOCUMENT);
      await until('the takedown', async () => (await suppressed(harness)) === 1);
      for (const commands of HOSTILE_WRITES) {
        for (const one of commands) await command(harness, ...one);
        planted += 1;
        await sleep(BETWEEN_MS);
      }
    },
    effect: faultEffect(
      'documents planted',
      () => planted,
      (before, during) => during === before + HOSTILE_WRITES.length,
    ),
    check: async (_report, harness) => {
      const broken: string[] = [];
      if ((await suppressed(harness)) !== 1) broken.push('the takedown is lifted in the process that knew it');
      await harness.restartSubject();
      await until(
        'the control store',
        async () => (await harness.subject.metric('serpcache_control_revision')) > 0,
      ).catch(() => broken.push('a new process hears no document'));
      if ((await suppressed(harness)) !== 1) broken.push('the takedown is lifted in a new process');
      return { broken };
    },
  },
  {
    name: 'planted-report',
    summary: 'a report without a valid head is listed as unreadable, and the list of drills still answers',
    store: 'single',
    faultMs: 4000,
    begin: async (harness) => {
      const drilling = beginOverlay(
        { ...emptyDocument, generation: 217_000_000 },
        {
          drill: DRILL,
          owner: 'somebody',
          leaseMs: 2000,
          mode: 'drop',
          blackout: false,
          ranges: [],
          cohorts: [],
        },
      );
      await writeDocument(harness, descendant(drilling, emptyDocument, 'planted'));
      await until('the drill', async () => (await harness.subject.metric('serpcache_control_drill_live')) === 1);
      const head = { id: DRILL, owner: 'somebody', domains: ['goods'], startedAtMs: 0, marks: [null] };
      const rest = { samples: [], learned: [], state: { kind: 'running' }, plan: { stages: [] } };
      // One script, as the service writes its own reports: otherwise the subject's next report would remove it.
      const enter = "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) redis.call('ZADD', KEYS[2], 1, ARGV[1])";
      const report = JSON.stringify({ ...head, ...rest });
      await command(harness, 'EVAL', enter, '2', REPORTS, `${REPORTS}:order`, 'drill', report);
      // The list is requested twice, here and in `end`: the second request is the one that could fail permanently.
      await readDrillList(harness);
    },
    effect: faultEffect(
      'the planted report in the store',
      (harness) =>
        command(harness, 'HGET', REPORTS, 'drill').then((found) => String(found ?? '').includes('"marks":[null]')),
      (before, during) => !before && during,
    ),
    end: async (harness) => {
      // The list is read before the report is removed.
      const listed = await readDrillList(harness);
      drillResponses.push(listed);
      await command(harness, 'DEL', DOCUMENT, REPORTS, `${REPORTS}:order`);
    },
    check: async (_report, harness) => {
      const during = drillResponses.pop() ?? '';
      const after = await readDrillList(harness);
      const broken: string[] = [];
      if (!during.startsWith('200 ')) broken.push(`the list of drills answered ${during.slice(0, 100)} meanwhile`);
      else if (!/"unreadable":\[\{/.test(during)) broken.push('the list of drills does not show what is unreadable');
      if (!after.startsWith('200 ')) broken.push(`the list of drills answers ${after.slice(0, 100)} afterwards`);
      return { broken };
    },
  },
];
