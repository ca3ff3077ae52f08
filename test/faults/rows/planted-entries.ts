import { createClient } from '../../../loadtest/traffic/client.ts';
import { type Bed, targetOf } from '../bed.ts';
import { HUNG_MS } from '../configuration.ts';
import { all, felt } from '../felt.ts';
import { bodyIn, claiming, wrongPage } from '../planted.ts';
import type { Row } from '../row.ts';
import { rewriteEntries, type Spoil } from '../store-entries.ts';
import { overwritten } from './store-values.ts';

/** The most that the format can say. */
const HIGHEST = 0xffff_ffff;
const FIVE_HOURS_MS = 5 * 3_600_000;
const MAX_ENTRY_BYTES = 64 * 1024;
/** Operators purge by it. */
const TOKEN = 'the-operators-of-this-row';
/** As the subject would send it: 16 characters of base64url. */
const MARK = 'planted-planted-';
const ETAG = Buffer.from(MARK, 'base64url');
/** A document holds 256. */
const MOST_PURGED = 60;
/** Each was planted, and each must be seen to be refused for what it is. */
const REASONS = ['flushed', 'lapsed', 'oversized', 'corrupt'] as const;

const purgesHeld = felt(
  'purges that the subject follows',
  (bed) => bed.subject.metric('serpcache_control_purges'),
  (before, during) => during > before,
);

/**
 * A foreign client that knows the format writes over every entry, then texts are purged, then it writes over those once more.
 * Of the pages that it may plant unseen, those of the highest generation before the purge, the content is right: a
 * checksum proves no author. After the purge it is wrong, as it is in every other entry.
 */
export function plantedEntries(): Row {
  let returned: readonly string[] = [];
  let asked = 0;
  return {
    name: 'planted-entries',
    says: 'entries that claim any generation, lifetime or size outlive neither a purge nor the policy of their domain',
    changes: { admin: { token: TOKEN }, domain: { maxEntryBytes: MAX_ENTRY_BYTES } },
    begin: async (bed) => {
      const texts: string[] = [];
      await rewriteEntries(bed.store(), plant(texts));
      const purged = new Set(texts.slice(0, MOST_PURGED));
      for (const text of purged) await purge(bed, text);
      returned = await plantedAnswers(bed, [...purged]);
      asked = purged.size;
      await rewriteEntries(bed.store(), (value) => {
        const body = bodyIn(value);
        return purged.has(textOf(body)) ? claiming(value, { ...NEWEST, ...wrong(body) }) : undefined;
      });
    },
    felt: all(overwritten, purgesHeld),
    check: async (_report, bed) => {
      const counts = await Promise.all(
        REASONS.map((reason) => bed.subject.metric('serpcache_misses_total', { reason })),
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

const NEWEST = { generation: HIGHEST, lifetimesMs: HIGHEST };

/** @param texts where the searches are put whose pages got the highest generation. */
function plant(texts: string[]): Spoil {
  return (value, other, at) => {
    const body = bodyIn(value);
    switch (at % 4) {
      case 0:
        texts.push(textOf(body));
        return claiming(value, { ...NEWEST, etag: ETAG });
      case 1:
        return claiming(value, {
          lifetimesMs: HIGHEST,
          createdAtMs: Date.now() - FIVE_HOURS_MS,
          ...wrong(body),
        });
      case 2:
        return claiming(value, { ...NEWEST, body: Buffer.concat([body, Buffer.alloc(MAX_ENTRY_BYTES, ' ')]) });
      default:
        return other;
    }
  };
}

function wrong(body: Buffer): { readonly body?: Buffer } {
  const changed = wrongPage(body);
  return changed === undefined ? {} : { body: changed };
}

function textOf(body: Buffer): string {
  const page: unknown = JSON.parse(body.toString('utf8'));
  const text = typeof page === 'object' && page !== null && 'query' in page ? page.query : undefined;
  if (typeof text !== 'string') throw new Error('a stored page that does not say its search');
  return text;
}

async function purge({ subject }: Bed, text: string): Promise<void> {
  const response = await fetch(`${subject.adminUrl}/admin/purge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ domain: 'goods', q: text }),
    signal: AbortSignal.timeout(HUNG_MS),
  });
  if (!response.ok) throw new Error(`a purge was refused: ${response.status} ${await response.text()}`);
}

/** Searches that are answered by what was planted. */
async function plantedAnswers({ subject }: Bed, texts: readonly string[]): Promise<readonly string[]> {
  const client = createClient({ baseUrl: subject.url, boundMs: HUNG_MS, maxConnections: 4 });
  try {
    const planted: string[] = [];
    for (const text of texts) {
      const reply = await client.get(targetOf(text));
      if (reply.kind === 'answer' && String(reply.headers.etag).includes(MARK)) planted.push(text);
    }
    return planted;
  } finally {
    client.close();
  }
}
