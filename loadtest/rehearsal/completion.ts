import { percentText, rangeText, timesText } from '../../src/report/format.ts';
import { isOver, start, until } from './drill.ts';
import { percent } from './figure.ts';
import { isHit } from './load.ts';
import { replicaAt, type Scene } from './scene.ts';

/** The drill as it is meant: every stage, and its report. */
export const completion: Scene = async ({ bed, load, plan, say }) => {
  const scene = 'completion';
  const owner = replicaAt(bed, 0);
  const sinceMs = load.nowMs();
  const { id } = await start(owner, bed, plan);
  const journal = await until(owner, id, 'its end', isOver);
  const [learned] = journal.learned;
  const { survival } = learned ?? {};
  const during = load.answers.filter(({ sentMs }) => sentMs >= sinceMs);
  const unanswered = during.filter(({ result }) => result === 'refused' || result === 'broken').length;
  const page = await owner.admin.page(`/admin/drills/${id}/report`);
  for (const { title, before, lowest, end, refillMs, peakEngineCallsPerSecond } of learned?.stages ?? []) {
    const refill = refillMs === undefined ? 'not refilled' : `refilled in ${(refillMs / 1000).toFixed(1)} s`;
    const ratios = [before, lowest, end].map((ratio) => percent(ratio ?? Number.NaN)).join(' → ');
    say(`${title}: hit ratio ${ratios}, ${refill}, at most ${peakEngineCallsPerSecond.toFixed(0)} engine calls/s`);
  }
  say(`report: ${owner.adminUrl}/admin/drills/${id}/report`);
  return [
    {
      scene,
      what: 'verdict',
      value: journal.verdict?.kind ?? 'none',
      target: 'passed',
      met: journal.verdict?.kind === 'passed',
    },
    {
      scene,
      what: 'searches unanswered during it',
      value: `${unanswered} of ${during.length} (${percent(during.filter(isHit).length / during.length)} hits)`,
      target: 'below 1 %',
      met: unanswered < during.length / 100,
    },
    {
      scene,
      what: 'learned: amplification, headroom left, f*',
      value: [
        rangeText(survival?.amplification, timesText),
        rangeText(survival?.headroomLeft, timesText),
        rangeText(survival?.survivable, percentText),
      ].join(', '),
      target: 'known',
      met: survival?.amplification !== undefined,
    },
    {
      scene,
      what: 'report',
      value: `${Math.round(page.length / 1024)} KiB of HTML`,
      target: 'with plots',
      met: page.includes('<svg'),
    },
  ];
};
