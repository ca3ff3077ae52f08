import { setTimeout as sleep } from 'node:timers/promises';
import { percent } from './figure.ts';
import { hitRatio } from './load.ts';
import { answersSince, replicaAt, type Scene } from './scene.ts';

const SEEN_MS = 5000;
const WATCHED_MS = 8000;

/** A document that people are looking at right now must be seen no more, and nothing else is flushed for it. */
export const suppressed: Scene = async ({ bed, load }) => {
  const scene = 'document suppressed';
  const counts = new Map<string, number>();
  load.onAnswer = ({ body }) => {
    for (const id of idsIn(body)) counts.set(id, (counts.get(id) ?? 0) + 1);
  };
  await sleep(SEEN_MS);
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  if (most === undefined) throw new Error('no document was seen');
  const [id, seen] = most;
  const before = hitRatio(load.answers.slice(-500));

  let lastSeenMs = Number.NEGATIVE_INFINITY;
  let after = 0;
  const askedAtMs = load.nowMs();
  load.onAnswer = ({ body, atMs }) => {
    if (!idsIn(body).includes(id)) return;
    lastSeenMs = atMs;
    after += 1;
  };
  const { admin } = replicaAt(bed, 0);
  await admin.post('/admin/suppress', { domain: bed.domain, ids: [id], reason: 'rehearsal' });
  await sleep(WATCHED_MS);
  load.onAnswer = () => undefined;
  const ratio = hitRatio(await answersSince(load, askedAtMs + 2000, 500));
  await admin.post('/admin/unsuppress', { domain: bed.domain, ids: [id], reason: 'rehearsal' });
  const goneMs = lastSeenMs - askedAtMs;
  return [
    {
      scene,
      what: 'asked to last seen',
      value: after === 0 ? 'never seen again' : `${Math.max(0, Math.round(goneMs))} ms`,
      target: 'at most 1 s',
      met: goneMs <= 1000,
    },
    {
      scene,
      what: 'seen before',
      value: `${(seen / (SEEN_MS / 1000)).toFixed(1)} times a second`,
      target: 'often',
      met: seen > 10,
    },
    {
      scene,
      what: 'hit ratio afterwards',
      value: `${percent(ratio)}, before ${percent(before)}`,
      target: 'within 5 points',
      met: ratio >= before - 0.05,
    },
  ];
};

function idsIn(body: string): readonly string[] {
  if (body === '') return [];
  const { results = [] } = JSON.parse(body) as { readonly results?: readonly { readonly id: string }[] };
  return results.map(({ id }) => id);
}
