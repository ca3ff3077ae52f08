import type { CheckRule, Window } from '../check.ts';
import { known, type QdiscFacts } from '../facts.ts';
import {
  dataNodesOf,
  each,
  finding,
  grownBy,
  type HostView,
  hostsOf,
  type Judgement,
  raiseOrHold,
  skip,
  stallOf,
  whyMissing,
} from '../window.ts';

/** Queueing disciplines of `tc`, of the hosts that were seen. */

const mbit = (bits: number): string => `${(bits / 1e6).toFixed(bits < 10e6 ? 1 : 0)} Mbit/s`;
export const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;

/** A discipline or a class with a rate in a window. */
interface Limited {
  readonly subject: string;
  readonly qdisc: QdiscFacts;
  readonly rateBits: number;
  /** It was there at the beginning of the window too. The counters below are 0 without that. */
  readonly isPaired: boolean;
  readonly drops: number;
  readonly overlimits: number;
  readonly bitsPerSecond: number;
  /** The rate that it has whatever its neighbours send: a class of htb borrows the rest of its ceiling from them. */
  readonly ownBits: number;
}

export function limitedOf(window: Window): readonly Limited[] {
  return hostsOf(window).flatMap(limitedAt);
}

function limitedAt({ now, before, seconds }: HostView): readonly Limited[] {
  return (known(now.qdiscs) ?? []).flatMap((qdisc): readonly Limited[] => {
    const { device, handle, parent, kind, rateBits, guaranteedBits } = qdisc;
    if (rateBits === undefined) return [];
    const then = known(before?.qdiscs)?.find(
      (one) => one.device === device && one.handle === handle && one.parent === parent && one.kind === kind,
    );
    const grown = (of: (one: QdiscFacts) => number): number | undefined => grownBy({ now: qdisc, before: then }, of);
    const sent = grown(({ sentBytes }) => sentBytes);
    const name = parent === 'root' && !isClass(qdisc) ? kind : `${kind} ${handle}`;
    return [
      {
        subject: `${name} on ${device} of ${now.name}`,
        qdisc,
        rateBits,
        isPaired: sent !== undefined && seconds > 0,
        drops: grown(({ dropped }) => dropped) ?? 0,
        overlimits: grown((one) => one.overlimits) ?? 0,
        bitsPerSecond: seconds > 0 ? (8 * (sent ?? 0)) / seconds : 0,
        ownBits: guaranteedBits ?? rateBits,
      },
    ];
  });
}

/** `1:10` is of a class, `1:` is of a discipline. */
function isClass({ handle }: QdiscFacts): boolean {
  return !handle.endsWith(':');
}

/** A look at each limiter; one judgement for a host without any, or without `tc`. */
const eachLimiter = (judge: (limited: Limited, window: Window) => Judgement) =>
  each(
    (window) =>
      hostsOf(window).flatMap(
        (host): readonly { readonly subject: string; readonly limited: Limited | Judgement }[] => {
          const { subject, now } = host;
          if (known(now.qdiscs) === undefined) return [{ subject, limited: skip(whyMissing(now.qdiscs)) }];
          const limited = limitedAt(host);
          if (limited.length === 0) return [{ subject, limited: 'fine' }];
          return limited.map((one) => ({ subject: one.subject, limited: one }));
        },
      ),
    ({ limited }, window) => (typeof limited === 'object' && 'qdisc' in limited ? judge(limited, window) : limited),
  );

const LIMIT = { drops: 10, overlimits: 100, stallMs: 5, clearOverlimits: 30, free: 0.8, full: 0.9, clearFull: 0.8 };
/** Timer interrupts per second of the kernel's configuration; most distributions have 250. */
const HZ = 250;
const ONCE = 'read once only';

/** The command that gives a limiter a burst that is large enough, or the one that shows it: other kinds have no burst. */
export function wideningOf(qdisc: QdiscFacts): string {
  const { device, handle, kind, rateBits = 0, burstBytes = 0, guaranteedBits = rateBits } = qdisc;
  const burst = `${Math.ceil(Math.max(MIN_BURST_BYTES, rateBits / 8 / HZ, 2 * burstBytes) / 1024)}kb`;
  const place = `dev ${device} ${placeOf(qdisc)}`;
  if (kind === 'tbf')
    return `tc qdisc change ${place} handle ${handle} tbf rate ${tcRate(rateBits)} burst ${burst} latency 50ms`;
  if (kind !== 'htb' || !isClass(qdisc)) return `tc -s -d qdisc show dev ${device}`;
  const rates = `rate ${tcRate(guaranteedBits)} ceil ${tcRate(rateBits)}`;
  return `tc class change ${place} classid ${handle} htb ${rates} burst ${burst} cburst ${burst}`;
}

const MIN_BURST_BYTES = 65_536;

/** As the arguments of tc name it. */
function placeOf(qdisc: QdiscFacts): string {
  const { parent, handle } = qdisc;
  if (parent !== 'root') return `parent ${parent}`;
  return isClass(qdisc) ? `parent ${handle.slice(0, handle.indexOf(':'))}:` : 'root';
}

function tcRate(bits: number): string {
  return bits % 1e6 === 0 ? `${bits / 1e6}mbit` : `${Math.round(bits / 1000)}kbit`;
}

/** Whether a PING to any store node took that much longer than the doctor itself was late. */
function stalls(window: Window, atLeastMs: number = LIMIT.stallMs): boolean {
  return dataNodesOf(window).some((view) => (stallOf(window, view)?.aboveMs ?? 0) >= atLeastMs);
}

export const LIMITER_CHECKS: readonly CheckRule[] = [
  {
    id: 'network-limiter',
    severity: 'warning',
    title: 'a limiter holds packets back although its rate is free',
    needs: ['tc', 'rtt', 'intrinsic'],
    minimum: 'two readings of a discipline with a rate',
    raises: `at less than ${100 * LIMIT.free} % of its rate: ≥ ${LIMIT.drops} packets dropped in the window, or ≥ ${LIMIT.overlimits} held back while a PING stalls for ≥ ${LIMIT.stallMs} ms`,
    clears: `no drops and fewer than ${LIMIT.clearOverlimits} held back`,
    why: 'A burst that is too small for the packets of one reply delays them by milliseconds, again and again, and no average shows it.',
    source: 'tc-tbf(8), “burst”, “overlimits”; the field report found its bottleneck there',
    look: eachLimiter(({ qdisc, isPaired, drops, overlimits, bitsPerSecond: bits, ownBits: rate }, window) => {
      if (!isPaired) return skip(ONCE);
      if (bits >= LIMIT.free * rate) return 'fine';
      // Every shaper holds packets back; without a stall it does its work.
      const isRaised = drops >= LIMIT.drops || (overlimits >= LIMIT.overlimits && stalls(window));
      const isCalm = drops === 0 && (overlimits < LIMIT.clearOverlimits || !stalls(window, LIMIT.stallMs / 2));
      if (!isRaised && isCalm) return 'fine';
      return finding(raiseOrHold(isRaised), () => ({
        evidence: `${mbit(bits)} of ${mbit(rate)} pass, and ${drops} packets were dropped and ${overlimits} held back; its burst is ${qdisc.burstBytes ?? 0} bytes.`,
        figures: { bitsPerSecond: bits, rateBits: rate, drops, overlimits, burstBytes: qdisc.burstBytes ?? 0 },
        advice: [
          `tc -s -d qdisc show dev ${qdisc.device}`,
          wideningOf(qdisc),
          // A class is a part of a tree, which other traffic needs.
          ...(isClass(qdisc) ? [] : [`Or remove the limit: tc qdisc del dev ${qdisc.device} ${placeOf(qdisc)}`]),
        ],
      }));
    }),
  },
  {
    id: 'network-limiter-full',
    severity: 'warning',
    title: 'the rate of a limiter is used up',
    needs: ['tc'],
    minimum: 'two readings of a discipline with a rate',
    raises: `≥ ${100 * LIMIT.full} % of its rate, and packets are dropped or held back`,
    clears: `below ${100 * LIMIT.clearFull} %, or nothing is dropped or held back`,
    why: 'Everything behind it waits. The limit is the bandwidth that this host has.',
    source: 'tc-tbf(8), tc-htb(8)',
    look: eachLimiter(({ qdisc, rateBits, isPaired, drops, overlimits, bitsPerSecond: bits }) => {
      if (!isPaired) return skip(ONCE);
      if (bits < LIMIT.clearFull * rateBits || drops + overlimits === 0) return 'fine';
      return finding(raiseOrHold(bits >= LIMIT.full * rateBits), () => ({
        evidence: `${mbit(bits)} of ${mbit(rateBits)} pass, ${drops} packets were dropped and ${overlimits} held back.`,
        figures: { bitsPerSecond: bits, rateBits, drops, overlimits },
        advice: [`Raise its rate, or send less: tc -s -d qdisc show dev ${qdisc.device}`],
      }));
    }),
  },
  {
    id: 'network-qdisc-burst',
    severity: 'info',
    title: 'the burst of a limiter is smaller than its rate ÷ HZ',
    needs: ['tc'],
    raises: `burst × 8 < rate ÷ ${HZ}`,
    why: 'With timers of a tick the rate could not be reached. Timers are of high resolution today, so this alone does no harm; drops and packets held back would.',
    source: 'tc-tbf(8), “burst”; kernel documentation, “hrtimers”',
    look: eachLimiter(({ qdisc, rateBits }) => {
      const { burstBytes } = qdisc;
      if (burstBytes === undefined) return skip('it shows no burst');
      const wanted = rateBits / 8 / HZ;
      return finding(burstBytes < wanted, () => ({
        evidence: `Its burst is ${burstBytes} bytes; ${mbit(rateBits)} ÷ ${HZ} is ${Math.round(wanted)} bytes.`,
        figures: { burstBytes, rateBits },
        advice: [wideningOf(qdisc)],
      }));
    }),
  },
];
