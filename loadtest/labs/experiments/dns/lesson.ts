import { durationText, percentText, pointsText } from '../../../../src/report/format.ts';
import type { Lesson } from '../../kit/finding.ts';
import type { DnsRow } from './row.ts';

/** Reconnecting waits a random 50–100 ms, a dozen times or more in a row: it moves the share by less than this. */
const NOTICED = 0.03;

/** Are there fewer errors with addresses than with names? */
export function lessonOf(rows: readonly DnsRow[]): Lesson {
  const address = rows.find(({ variant }) => !variant.isNamed);
  const healthy = rows.find(({ variant }) => variant.isNamed && variant.resolver.kind === 'healthy');
  if (address === undefined || healthy === undefined)
    throw new Error('an address and a healthy resolver are compared with');
  const troubled = rows.filter(({ variant }) => variant.isNamed && variant.resolver.kind !== 'healthy');
  const worse = troubled.filter((row) => lostShare(row.cut) > lostShare(address.cut) + NOTICED);
  const gain = lostShare(healthy.cut) - lostShare(address.cut);
  const figures =
    `while connections were cut, addresses lost ${percentText(lostShare(address.cut))} of the reads, names ` +
    `${percentText(lostShare(healthy.cut))} with a healthy resolver, ` +
    troubled.map((row) => `${percentText(lostShare(row.cut))} with ${row.variant.name}`).join(', ');
  const kept = keptText(address, [healthy, ...troubled]);
  if (isDisturbed(address) || isDisturbed(healthy))
    return {
      holds: 'unseen',
      sentence: `It could not be seen here: reads were lost where nothing was cut and no name was asked for, so something else disturbed what the others are compared with. ${kept} Among it, ${figures}.`,
    };
  const start = startText(address, troubled);
  if (worse.length === 0 && gain <= NOTICED)
    return {
      holds: 'no',
      sentence: `It does not hold here: ${figures}; each reconnect is over before the resolver matters. ${kept}`,
    };
  const why =
    gain > NOTICED
      ? `Even a healthy resolver cost ${pointsText(gain * 100)}.`
      : 'A healthy resolver cost nothing that can be seen, so what addresses save is what the resolver does wrong.';
  const isAll = worse.length === troubled.length;
  return {
    holds: isAll ? 'yes' : 'partly',
    sentence: `${isAll ? 'It holds' : 'It holds in part'}: ${figures}. ${why} ${kept}${start}`,
  };
}

/** Lost while nothing was cut, and no resolver was asked that could be the reason: so it was the machine. */
export function isDisturbed({ kept }: Pick<DnsRow, 'kept'>): boolean {
  return kept.asked === 0 && lostShare(kept) > NOTICED;
}

export function lostShare({ answered, failed }: { readonly answered: number; readonly failed: number }): number {
  return failed / Math.max(1, answered + failed);
}

function keptText(address: DnsRow, named: readonly DnsRow[]): string {
  const asked = named.reduce((sum, row) => sum + row.kept.asked, 0);
  const most = Math.max(...named.map((row) => lostShare(row.kept)));
  const lost = `${percentText(most)} at most with names, ${percentText(lostShare(address.kept))} with addresses`;
  return asked === 0
    ? `Connections that were kept asked for no name (lost: ${lost}).`
    : `With nothing cut ${asked} names were asked for, as connections broke by themselves (lost: ${lost}).`;
}

function startText(address: DnsRow, troubled: readonly DnsRow[]): string {
  const never = troubled.filter((row) => row.startedMs === undefined).map((row) => row.variant.name);
  if (never.length === 0 || address.startedMs === undefined) return '';
  return ` A start took ${durationText(address.startedMs)} with addresses and did not end in the time given with ${never.join(', ')}.`;
}
