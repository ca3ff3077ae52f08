import { percentText } from '../../../report/format.ts';
import { type CheckRule, knownFigures, type Window } from '../check.ts';
import { type DnsFacts, known, type QdiscFacts } from '../facts.ts';
import {
  cpuOf,
  dataNodesOf,
  each,
  finding,
  grownBy,
  type HostView,
  hostPartOf,
  hostsOf,
  type Judgement,
  median,
  portPartOf,
  raiseOrHold,
  skip,
  stallOf,
  stateAbove,
  whyMissing,
} from '../window.ts';

/** The network of seen hosts: queueing disciplines of `tc`, round trips and names; and their swap. */

const mbit = (bits: number): string => `${(bits / 1e6).toFixed(bits < 10e6 ? 1 : 0)} Mbit/s`;
export const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;

/** A discipline or a class with a rate in a window. */
type Limited = ReturnType<typeof limitedAt>[number];

function limitedAt({ now, before, seconds }: HostView) {
  return (known(now.qdiscs) ?? []).flatMap((qdisc) => {
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
        /** It was there at the beginning of the window too. The counters below are 0 without that. */
        isPaired: sent !== undefined && seconds > 0,
        drops: grown(({ dropped }) => dropped) ?? 0,
        overlimits: grown((one) => one.overlimits) ?? 0,
        bitsPerSecond: seconds > 0 ? (8 * (sent ?? 0)) / seconds : 0,
        /** The rate that it has whatever its neighbours send: a class of htb borrows the rest of its ceiling from them. */
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

const LIMIT = { drops: 10, overlimits: 100, clearOverlimits: 30, free: 0.8, full: 0.9, clearFull: 0.8 };
/** A stall of a node that is not busy and answers most PINGs fast comes from the way to it: there one packet is enough. */
const STALL = { ms: 5, clearMs: 2.5, timesMedian: 10, cpu: 0.7 };
/** Timer interrupts per second of the kernel's configuration; most distributions have 250. */
const HZ = 250;
const ONCE = 'read once only';

/** The command that gives a limiter a burst that is large enough, or the one that shows it: other kinds have no burst. */
function wideningOf(qdisc: QdiscFacts): string {
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

/** The longest stall of a PING to a store node. Undefined without PINGs, or where it is not known how late the doctor itself was. */
function longestStall(window: Window) {
  const stalls = dataNodesOf(window).flatMap((view) => {
    const [stall, cpu] = [stallOf(window, view), cpuOf(view) ?? 1];
    if (stall === undefined) return [];
    const isOfTheWay = cpu < STALL.cpu && stall.maxMs >= STALL.timesMedian * stall.medianMs;
    return [{ ...stall, cpu, isOfTheWay, subject: view.subject }];
  });
  return stalls.toSorted((a, b) => b.aboveMs - a.aboveMs)[0];
}

export const LIMITER_CHECKS: readonly CheckRule[] = [
  {
    id: 'network-limiter',
    severity: 'warning',
    title: 'a limiter holds packets back although its rate is free',
    needs: ['tc', 'rtt', 'info', 'intrinsic'],
    minimum: 'two readings of a discipline with a rate',
    raises: `at less than ${100 * LIMIT.free} % of its rate: ≥ ${LIMIT.drops} packets dropped in the window; or ≥ ${LIMIT.overlimits} dropped or held back while a PING stalls for ≥ ${STALL.ms} ms; or any while one stalls that long, and for ≥ ${STALL.timesMedian} times the median, at a node that uses < ${100 * STALL.cpu} % of a core`,
    clears: `no drops, and fewer than ${LIMIT.clearOverlimits} held back (none beside such a node) or a stall of less than ${STALL.clearMs} ms`,
    why: 'A burst that is too small for the packets of one reply delays them by milliseconds, again and again, although the average rate is free. Nothing looks full, so nobody looks there.',
    source: 'tc-tbf(8), “burst”, “overlimits”; the field report found its bottleneck there',
    look: eachLimiter(({ qdisc, isPaired, drops, overlimits, bitsPerSecond: bits, ownBits: rate }, window) => {
      if (!isPaired) return skip(ONCE);
      if (bits >= LIMIT.free * rate) return 'fine';
      const stall = longestStall(window);
      const { aboveMs = 0, maxMs, medianMs, cpu, isOfTheWay } = stall ?? {};
      // Every shaper holds packets back; without a stall it does its work.
      const isHeld = (least: number): boolean => drops + overlimits >= (isOfTheWay ? 1 : least);
      const isRaised = drops >= LIMIT.drops || (isHeld(LIMIT.overlimits) && aboveMs >= STALL.ms);
      const isCalm = drops === 0 && !(isHeld(LIMIT.clearOverlimits) && aboveMs >= STALL.clearMs);
      if (!isRaised && isCalm) return 'fine';
      const { burstBytes = 0 } = qdisc;
      const ping =
        stall === undefined
          ? ''
          : ` PING to ${stall.subject} takes up to ${ms(stall.maxMs)} (median ${ms(stall.medianMs)}); its CPU is at ${percentText(stall.cpu)} of a core.`;
      return finding(raiseOrHold(isRaised), () => ({
        evidence: `${mbit(bits)} of ${mbit(rate)} pass, and ${drops} packets were dropped and ${overlimits} held back; its burst is ${burstBytes} bytes.${ping}`,
        figures: knownFigures({
          bitsPerSecond: bits,
          rateBits: rate,
          drops,
          overlimits,
          burstBytes,
          maxMs,
          medianMs,
          cpu,
        }),
        advice: [
          `tc -s -d qdisc show dev ${qdisc.device}`,
          `A burst of at least rate ÷ HZ and some milliseconds of the rate: ${wideningOf(qdisc)}`,
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

/** The way to the stores and the host before it: round trips, names, the disciplines of `tc`, and swap. */

const RTT = { samples: 5, ms: 5, clearMs: 3, deadlineShare: 0.5 };
const JITTER = { samples: 15, times: 10, aboveMs: 10, clearMs: 5 };
const DNS = { raises: 100, clears: 50 };

interface NameView {
  readonly subject: string;
  readonly facts?: DnsFacts;
  readonly missing?: string;
}

/** The names that each host looked up; a host that looked none up stands for itself. */
function namesOf(window: Window): readonly NameView[] {
  return hostsOf(window).flatMap(({ subject, now }): readonly NameView[] => {
    const names = known(now.dns);
    if (names === undefined) return [{ subject, missing: whyMissing(now.dns) }];
    return names.map((facts) => ({ subject: `name ${facts.name} on ${now.name}`, facts }));
  });
}

export const NETWORK_CHECKS: readonly CheckRule[] = [
  {
    id: 'network-rtt',
    severity: 'warning',
    title: 'a store node is far away',
    needs: ['rtt'],
    minimum: `${RTT.samples} PINGs`,
    raises: `the median PING takes ≥ ${RTT.ms} ms, or ≥ ${100 * RTT.deadlineShare} % of the deadline of a read, above the delay of the event loop`,
    clears: `below ${RTT.clearMs} ms`,
    why: 'Every read of the store takes at least this time, whatever the server does.',
    source: 'Redis documentation, “Diagnosing latency issues”: network and communication latency',
    look: each(dataNodesOf, ({ node, store }, window) => {
      const times = known(node.rtt) ?? [];
      const medianMs = median(times);
      if (medianMs === undefined || times.length < RTT.samples) {
        return skip(whyMissing(node.rtt) || `fewer than ${RTT.samples} PINGs`);
      }
      const { deadlineMs } = store.settings;
      const raises = Math.min(RTT.ms, RTT.deadlineShare * deadlineMs);
      // A busy event loop takes replies late that have come in time.
      const loopMs = window.after.service?.loop.delayMs ?? 0;
      const maxMs = Math.max(...times);
      return finding(stateAbove(medianMs - loopMs, { raises, clears: Math.min(RTT.clearMs, raises) }), () => ({
        evidence: `PING takes ${ms(medianMs)} in the median of ${times.length}, at worst ${ms(maxMs)}; a read has ${ms(deadlineMs)}${loopMs > 0 ? `, and the event loop here is ${ms(loopMs)} late` : ''}.`,
        figures: { medianMs, maxMs, deadlineMs, loopMs },
        advice: [
          'Put the store into the same zone, without a proxy between.',
          `Where the time goes: mtr -T -P ${portPartOf(node.address)} ${hostPartOf(node.address)}`,
        ],
      }));
    }),
  },
  {
    id: 'network-jitter',
    severity: 'warning',
    title: 'round trips to a store node stall now and then',
    needs: ['rtt', 'intrinsic'],
    minimum: `${JITTER.samples} PINGs and the intrinsic latency of this host`,
    raises: `the worst PING is ≥ ${JITTER.times} times the median and ≥ ${JITTER.aboveMs} ms above the intrinsic latency of this host and the delay of the event loop`,
    clears: `less than ${JITTER.clearMs} ms above it`,
    why: 'A stall of the network or of the node makes reads miss their deadline although the median is good.',
    source: 'Redis documentation, “Diagnosing latency issues”: intrinsic latency; the field report’s tc queue',
    look: each(dataNodesOf, (view, window) => {
      const stall = stallOf(window, view);
      if (stall === undefined || stall.count < JITTER.samples) {
        return skip(whyMissing(view.node.rtt) || 'too few PINGs, or no intrinsic latency');
      }
      const { medianMs, maxMs, ownMs, aboveMs } = stall;
      if (maxMs < JITTER.times * medianMs) return 'fine';
      return finding(stateAbove(aboveMs, { raises: JITTER.aboveMs, clears: JITTER.clearMs }), () => ({
        evidence: `PING took ${ms(maxMs)} at worst and ${ms(medianMs)} in the median; the doctor itself was at most ${ms(ownMs)} late.`,
        figures: { maxMs, medianMs, ownMs },
        advice: [
          'On the path: tc -s qdisc show; ip -s link; on the node: redis-cli --intrinsic-latency 10, LATENCY DOCTOR',
        ],
      }));
    }),
  },
  {
    id: 'network-dns-slow',
    severity: 'warning',
    title: 'a configured name resolves slowly, or not at all',
    needs: ['dns'],
    minimum: 'one look-up of each name',
    raises: `a look-up takes ≥ ${DNS.raises} ms, or fails`,
    clears: `below ${DNS.clears} ms`,
    why: 'Each reconnect resolves the name first. Node makes look-ups in four threads, which files and compression share.',
    source: 'Node.js documentation, “dns”: dns.lookup uses the thread pool',
    look: each(namesOf, ({ missing = '', facts }) => {
      if (facts === undefined) return skip(missing);
      const { name, lookupMs = 0, problem, addresses } = facts;
      return finding(problem === undefined ? stateAbove(lookupMs, DNS) : 'raise', () => ({
        evidence:
          problem === undefined
            ? `${name} took ${ms(lookupMs)} to become ${addresses.join(', ')}.`
            : `${name} does not resolve: ${problem}.`,
        figures: knownFigures({ lookupMs, problem }),
        advice: [
          `time getent ahosts ${name}`,
          'Use addresses in the configuration, or a caching resolver on this host.',
        ],
      }));
    }),
  },
  ...LIMITER_CHECKS,
];

const SWAPPED = { raises: 100, clears: 10 };

export const HOST_CHECKS: readonly CheckRule[] = [
  {
    id: 'host-swap',
    severity: 'warning',
    title: 'a host swaps',
    needs: ['host'],
    minimum: 'two readings',
    raises: `≥ ${SWAPPED.raises} pages in and out a second`,
    clears: `below ${SWAPPED.clears}`,
    why: 'A page that comes from the disk stops a single-threaded server for milliseconds.',
    source: 'Redis documentation, “Diagnosing latency issues”: swapping; vmstat(8)',
    look: each(hostsOf, ({ now, before, seconds }) => {
      const [own, then] = [known(now.memory), known(before?.memory)];
      if (own === undefined || then === undefined) return skip(whyMissing(now.memory) || 'read once only');
      const moved = own.swappedIn - then.swappedIn + own.swappedOut - then.swappedOut;
      const perSecond = seconds > 0 ? moved / seconds : 0;
      return finding(stateAbove(perSecond, SWAPPED), () => ({
        evidence: `${perSecond.toFixed(0)} pages a second are swapped.`,
        figures: { pagesPerSecond: perSecond },
        advice: [
          'sysctl -w vm.swappiness=1',
          'Lower maxmemory of the store, or memory.maxBytes.',
          'Whose: grep VmSwap /proc/*/status',
        ],
      }));
    }),
  },
];
