import { amountText, timesText } from '../../../../src/report/format.ts';
import type { Lesson } from '../../kit/finding.ts';
import { type BatchRate, gainsOf, type LoadGain } from './best-batch.ts';
import { GOLDEN } from './published.ts';
import type { TimeShare } from './time-share.ts';
import type { WayName, WayRow } from './ways.ts';

export interface BatchFigures {
  readonly rows: readonly (BatchRate & { readonly share: TimeShare | undefined })[];
  readonly ways: readonly Pick<WayRow, 'way' | 'keys' | 'storeUsPerKey'>[];
  /** What a node of a cluster said to MGET of two slots; undefined when it took them. */
  readonly refusal: string | undefined;
}

/** Published was four times. Half as much again is more than any noise, and worth waiting for companions. */
const LEAST_GAIN = 1.5;
/** Below it MGET is no reason to give up the freedom of a pipeline. */
const LEAST_MGET_GAIN = 1.1;

/** Do batches pay, is the best one where it was published, and does it move with the load? */
export function batchLesson({ rows, ways, refusal }: BatchFigures): Lesson {
  const gains = gainsOf(rows);
  const paying = gains.filter(({ gain }) => gain >= LEAST_GAIN);
  const golden = gains.filter(({ best }) => best.pipeline >= GOLDEN.least && best.pipeline <= GOLDEN.most);
  const isGolden = golden.length === gains.length;
  const doPay = paying.length === gains.length;
  const holds = doPay && isGolden ? 'yes' : paying.length === 0 ? 'no' : 'partly';
  const start = { yes: 'Holds here', partly: 'Holds in part', no: 'Does not hold here' }[holds];
  const found = [payText(gains, doPay), goldenText(gains, golden.length), reasonText(rows, gains, isGolden)];
  return {
    holds,
    sentence: `${start}: ${[...found, ruleText(ways, refusal)].filter((text) => text !== '').join('; ')}.`,
  };
}

function payText(gains: readonly LoadGain[], doPay: boolean): string {
  const each = gains.map(({ gain, clients }) => `${timesText(gain)} with ${connections(clients)}`);
  return `the best batch does ${listed(each)} what single commands do (4 × published)${doPay ? '' : ', which is not everywhere worth a batch'}`;
}

function goldenText(gains: readonly LoadGain[], golden: number): string {
  const bests = gains.map(({ best }) => best.pipeline);
  const doesMove = new Set(bests).size > 1;
  const sizes = doesMove
    ? `the smallest batch within 5 % of the best is ${listed(gains.map(({ best, clients }) => `${best.pipeline} with ${connections(clients)}`))}, so it moves with the load`
    : `the smallest batch within 5 % of the best is ${bests[0]} at every load`;
  return `${sizes}, and within the published ${GOLDEN.least} to ${GOLDEN.most} at ${golden} of ${gains.length} loads`;
}

/** Only what the rows show: who was full at the best batch, and what a single command spends on the network. */
function reasonText(rows: BatchFigures['rows'], gains: readonly LoadGain[], isGolden: boolean): string {
  const full = gains.filter(({ best }) => best.limit === 'generator');
  const generator =
    full.length === 0
      ? ''
      : `the generator was full at the best batch with ${listed(full.map(({ clients }) => connections(clients)))}, so the store may gain from larger ones yet`;
  const smallest = Math.min(...gains.map(({ best }) => best.pipeline));
  const [single, best] = [1, smallest].map((pipeline) => networkUs(rows.filter((row) => row.pipeline === pipeline)));
  const network =
    isGolden || smallest >= GOLDEN.least || single === undefined || best === undefined
      ? ''
      : `on loopback there is next to no round trip to share, and what a batch saves is the store's own work for the network, ${amountText(single)} µs of a single command and ${amountText(best)} µs of one in a batch of ${smallest}`;
  return [generator, network].filter((text) => text !== '').join('; ');
}

/** By the store's processor time: it says what a way costs whoever is full, and however busy the machine is. */
function ruleText(ways: BatchFigures['ways'], refusal: string | undefined): string {
  const most = Math.max(...ways.map(({ keys }) => keys));
  const us = (way: WayName): number => {
    const row = ways.find((one) => one.way === way && one.keys === most);
    if (row === undefined) throw new Error(`no row for ${most} keys by ${way}`);
    return row.storeUsPerKey;
  };
  const [single, mget, lua] = [us('pipelined GET'), us('MGET'), us('Lua')];
  const cluster =
    refusal === undefined ? '' : ` (a node of a cluster refuses keys of two slots in one: ${refusal.split(' ')[0]})`;
  const rule =
    single / mget >= LEAST_MGET_GAIN
      ? `so MGET pays where keys are few, fixed and on one slot${cluster}, and a pipeline of GET serves the many that vary`
      : `so a pipeline of GET loses nothing and serves the many that vary; MGET is for few, fixed keys on one slot${cluster}`;
  return `each of ${most} keys costs the store ${amountText(single)} µs in a pipeline of GET, ${amountText(mget)} µs by MGET and ${amountText(lua)} µs by a script, ${rule}`;
}

/** Mean over the loads. */
function networkUs(rows: BatchFigures['rows']): number | undefined {
  const each = rows.flatMap(({ share }) => share?.networkUs ?? []);
  return each.length === 0 ? undefined : each.reduce((sum, us) => sum + us, 0) / each.length;
}

function connections(clients: number): string {
  return clients === 1 ? 'one connection' : `${clients}`;
}

function listed(texts: readonly string[]): string {
  return texts.length < 2 ? (texts[0] ?? '') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}
