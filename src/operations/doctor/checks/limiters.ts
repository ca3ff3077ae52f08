import type { Check, Observation, Window } from '../check.ts';
import { known, type QdiscFacts } from '../facts.ts';
import { fine, grownBy, hostsOf, reasonOf, skipped } from '../window.ts';

/** Queueing disciplines of `tc`, of the hosts that were seen. */

export const mbit = (bits: number): string => `${(bits / 1e6).toFixed(bits < 10e6 ? 1 : 0)} Mbit/s`;
const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;

/** A discipline with a rate in a window. */
interface Limited {
  readonly subject: string;
  readonly qdisc: QdiscFacts;
  readonly drops: number;
  readonly overlimits: number;
  readonly bitsPerSecond: number;
}

export function limitedOf(window: Window): readonly Limited[] {
  return hostsOf(window).flatMap(({ now, before, seconds }) =>
    (known(now.qdiscs) ?? []).flatMap((qdisc): Limited[] => {
      const then = (before === undefined ? undefined : known(before.qdiscs))?.find(
        ({ device, handle, parent }) => device === qdisc.device && handle === qdisc.handle && parent === qdisc.parent,
      );
      if (qdisc.rateBits === undefined) return [];
      const grown = { now: qdisc, ...(then && { before: then }) };
      const sent = grownBy(grown, (one) => one.sentBytes) ?? 0;
      return [
        {
          ...{ subject: `${qdisc.kind} on ${qdisc.device} of ${now.name}`, qdisc },
          drops: grownBy(grown, (one) => one.dropped) ?? 0,
          overlimits: grownBy(grown, (one) => one.overlimits) ?? 0,
          bitsPerSecond: seconds > 0 ? (8 * sent) / seconds : 0,
        },
      ];
    }),
  );
}

const LIMIT = { drops: 10, overlimits: 100, clearOverlimits: 30, free: 0.8, full: 0.9 };
/** Timer interrupts per second of the kernel's configuration; most distributions have 250. */
const HZ = 250;

const change = ({ device, handle, kind, rateBits = 0 }: QdiscFacts): string =>
  `tc qdisc change dev ${device} root handle ${handle} ${kind} rate ${Math.round(rateBits / 1e6)}mbit burst ${Math.max(64, Math.ceil(rateBits / 8 / HZ / 1024))}kb latency 50ms`;

const limiter: Check = {
  id: 'network-limiter',
  area: 'network',
  severity: 'warning',
  title: 'a limiter holds packets back although its rate is free',
  needs: ['tc'],
  minimum: 'two readings of a discipline with a rate',
  raises: `≥ ${LIMIT.drops} packets dropped or ≥ ${LIMIT.overlimits} held back in the window, at less than ${100 * LIMIT.free} % of its rate`,
  clears: `no drops and fewer than ${LIMIT.clearOverlimits} held back`,
  why: 'A burst that is too small for the packets of one reply delays them by milliseconds, again and again, and no average shows it.',
  source: 'tc-tbf(8), “burst”, “overlimits”; the field report found its bottleneck there',
  look: (window) =>
    limitedOf(window).map(({ subject, qdisc, drops, overlimits, bitsPerSecond: bits }): Observation => {
      const rate = qdisc.rateBits ?? 0;
      if (bits >= LIMIT.free * rate) return fine(subject);
      const isRaised = drops >= LIMIT.drops || overlimits >= LIMIT.overlimits;
      if (!isRaised && drops === 0 && overlimits < LIMIT.clearOverlimits) return fine(subject);
      return {
        subject,
        state: isRaised ? 'raise' : 'hold',
        evidence: `${mbit(bits)} of ${mbit(rate)} pass, and ${drops} packets were dropped and ${overlimits} held back; its burst is ${qdisc.burstBytes ?? 0} bytes.`,
        figures: { bitsPerSecond: bits, rateBits: rate, drops, overlimits, burstBytes: qdisc.burstBytes ?? 0 },
        advice: [
          `tc -s -d qdisc show dev ${qdisc.device}`,
          change(qdisc),
          `Or remove it: tc qdisc del dev ${qdisc.device} root`,
        ],
      };
    }),
};

const limiterFull: Check = {
  id: 'network-limiter-full',
  area: 'network',
  severity: 'warning',
  title: 'the rate of a limiter is used up',
  needs: ['tc'],
  minimum: 'two readings of a discipline with a rate',
  raises: `≥ ${100 * LIMIT.full} % of its rate, and packets are dropped or held back`,
  clears: 'otherwise',
  why: 'Everything behind it waits. The limit is the bandwidth that this host has.',
  source: 'tc-tbf(8), tc-htb(8)',
  look: (window) =>
    limitedOf(window).map(({ subject, qdisc, drops, overlimits, bitsPerSecond: bits }): Observation => {
      const rate = qdisc.rateBits ?? 0;
      if (bits < LIMIT.full * rate || drops + overlimits === 0) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `${mbit(bits)} of ${mbit(rate)} pass, ${drops} packets were dropped and ${overlimits} held back.`,
        figures: { bitsPerSecond: bits, rateBits: rate, drops, overlimits },
        advice: [`Raise its rate, or send less: tc -s -d qdisc show dev ${qdisc.device}`],
      };
    }),
};

const burst: Check = {
  id: 'network-qdisc-burst',
  area: 'network',
  severity: 'info',
  title: 'the burst of a limiter is smaller than its rate ÷ HZ',
  needs: ['tc'],
  minimum: 'none',
  raises: `burst × 8 < rate ÷ ${HZ}`,
  clears: 'otherwise',
  why: 'With timers of a tick the rate could not be reached. Timers are of high resolution today, so this alone does no harm; drops and packets held back would.',
  source: 'tc-tbf(8), “burst”; hrtimers(7) of the kernel',
  look: (window) =>
    limitedOf(window).map(({ subject, qdisc }): Observation => {
      const { rateBits = 0, burstBytes } = qdisc;
      if (burstBytes === undefined) return skipped(subject, 'it shows no burst');
      const wanted = rateBits / 8 / HZ;
      if (burstBytes >= wanted) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `Its burst is ${burstBytes} bytes; ${mbit(rateBits)} ÷ ${HZ} is ${Math.round(wanted)} bytes.`,
        figures: { burstBytes, rateBits },
        advice: [change(qdisc)],
      };
    }),
};

const delay: Check = {
  id: 'network-qdisc-delay',
  area: 'network',
  severity: 'warning',
  title: 'netem delays or drops packets on purpose',
  needs: ['tc'],
  minimum: 'none',
  raises: 'a discipline of the kind netem is there',
  clears: 'otherwise',
  why: 'It is made for experiments, and was left behind.',
  source: 'tc-netem(8)',
  look: (window) =>
    hostsOf(window).map(({ subject, now }): Observation => {
      const listed = known(now.qdiscs);
      if (listed === undefined) return skipped(subject, reasonOf(now.qdiscs));
      const found = listed.filter(({ kind }) => kind === 'netem');
      const [first] = found;
      if (first === undefined) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `netem stands on ${found.map(({ device }) => device).join(', ')}${first.latencyMs === undefined ? '' : ` and delays by ${ms(first.latencyMs)}`}.`,
        figures: { devices: found.length, delayMs: first.latencyMs ?? 0 },
        advice: [`tc qdisc del dev ${first.device} ${first.parent}`],
      };
    }),
};

export const LIMITER_CHECKS: readonly Check[] = [limiter, limiterFull, burst, delay];
