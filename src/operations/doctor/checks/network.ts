import { type CheckRule, knownFigures, type Window } from '../check.ts';
import { type DnsFacts, known } from '../facts.ts';
import {
  dataNodesOf,
  each,
  finding,
  hostPartOf,
  hostsOf,
  median,
  portPartOf,
  skip,
  stallOf,
  stateAbove,
  whyMissing,
} from '../window.ts';
import { LIMITER_CHECKS, ms } from './limiters.ts';

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
