import type { Check, Observation, Window } from '../check.ts';
import { type DnsFacts, type InterfaceFacts, known } from '../facts.ts';
import {
  dataNodesOf,
  fine,
  type HostView,
  hostPartOf,
  hostsOf,
  median,
  nodesOf,
  reasonOf,
  skipped,
  stallOf,
  stateAbove,
} from '../window.ts';
import { LIMITER_CHECKS, mbit, ms } from './limiters.ts';

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

// --- round trips ------------------------------------------------------------------------------------------------------

const RTT = { samples: 5, ms: 5, clearMs: 3, deadlineShare: 0.5 };

const rtt: Check = {
  id: 'network-rtt',
  area: 'network',
  severity: 'warning',
  title: 'a store node is far away',
  needs: ['rtt'],
  minimum: `${RTT.samples} PINGs`,
  raises: `the median PING takes ≥ ${RTT.ms} ms, or ≥ ${100 * RTT.deadlineShare} % of the deadline of a read, above the delay of the event loop`,
  clears: `below ${RTT.clearMs} ms`,
  why: 'Every read of the store takes at least this time, whatever the server does.',
  source: 'Redis documentation, “Diagnosing latency issues”: network and communication latency',
  look: (window) =>
    dataNodesOf(window).map(({ node, store, subject }): Observation => {
      const times = known(node.rtt);
      const medianMs = median(times ?? []);
      if (times === undefined || medianMs === undefined || times.length < RTT.samples) {
        return skipped(subject, reasonOf(node.rtt) || `fewer than ${RTT.samples} PINGs`);
      }
      const { deadlineMs } = store.settings;
      const raises = Math.min(RTT.ms, RTT.deadlineShare * deadlineMs);
      // A busy event loop takes replies late that have come in time.
      const loopMs = window.after.service?.loop.delayMs ?? 0;
      const state = stateAbove(medianMs - loopMs, { raises, clears: Math.min(RTT.clearMs, raises) });
      if (state === 'fine') return fine(subject);
      return {
        subject,
        state,
        evidence: `PING takes ${ms(medianMs)} in the median of ${times.length}, at worst ${ms(Math.max(...times))}; a read has ${ms(deadlineMs)}${loopMs > 0 ? `, and the event loop here is ${ms(loopMs)} late` : ''}.`,
        figures: { medianMs, maxMs: Math.max(...times), deadlineMs, loopMs },
        advice: [
          'Put the store into the same zone, without a proxy between.',
          `Where the time goes: mtr -T -P ${node.address.slice(node.address.lastIndexOf(':') + 1)} ${hostPartOf(node.address)}`,
        ],
      };
    }),
};

const JITTER = { samples: 15, times: 10, aboveMs: 10, clearMs: 5 };

const jitter: Check = {
  id: 'network-jitter',
  area: 'network',
  severity: 'warning',
  title: 'round trips to a store node stall now and then',
  needs: ['rtt', 'intrinsic'],
  minimum: `${JITTER.samples} PINGs and the intrinsic latency of this host`,
  raises: `the worst PING is ≥ ${JITTER.times} times the median and ≥ ${JITTER.aboveMs} ms above the intrinsic latency of this host and the delay of the event loop`,
  clears: `less than ${JITTER.clearMs} ms above it`,
  why: 'A stall of the network or of the node makes reads miss their deadline although the median is good.',
  source: 'Redis documentation, “Diagnosing latency issues”: intrinsic latency; the field report’s tc queue',
  look: (window) =>
    dataNodesOf(window).map((view): Observation => {
      const { node, subject } = view;
      const stall = stallOf(window, view);
      if (stall === undefined || stall.count < JITTER.samples) {
        return skipped(subject, reasonOf(node.rtt) || 'too few PINGs, or no intrinsic latency');
      }
      const { medianMs, maxMs, ownMs, aboveMs } = stall;
      const state = stateAbove(aboveMs, { raises: JITTER.aboveMs, clears: JITTER.clearMs });
      if (state === 'fine' || maxMs < JITTER.times * medianMs) return fine(subject);
      return {
        subject,
        state,
        evidence: `PING took ${ms(maxMs)} at worst and ${ms(medianMs)} in the median; the doctor itself was at most ${ms(ownMs)} late.`,
        figures: { maxMs, medianMs, ownMs },
        advice: [
          'On the path: tc -s qdisc show; ip -s link; on the node: redis-cli --intrinsic-latency 10, LATENCY DOCTOR',
        ],
      };
    }),
};

// --- TCP --------------------------------------------------------------------------------------------------------------

const RETRANSMITS = { segments: 1000, share: 0.01, clearShare: 0.005, count: 20 };

const retransmits: Check = {
  id: 'network-retransmits',
  area: 'network',
  severity: 'warning',
  title: 'packets are lost and sent again',
  needs: ['host'],
  minimum: `${RETRANSMITS.segments} segments sent and ${RETRANSMITS.count} sent again in the window`,
  raises: `≥ ${percent(RETRANSMITS.share)} of the segments are sent again`,
  clears: `below ${percent(RETRANSMITS.clearShare)}`,
  why: 'A lost packet costs one more round trip, and at least 200 ms when no other packet follows it: four times the default deadline of a read.',
  source: 'RFC 6298, RFC 8985; Linux: the retransmission timer is at least 200 ms',
  look: (window) =>
    hostsOf(window).map((host): Observation => {
      const { subject, now, before } = host;
      const [own, then] = [known(now.tcp), before === undefined ? undefined : known(before.tcp)];
      if (own === undefined || then === undefined) return skipped(subject, reasonOf(now.tcp) || 'read once only');
      const sent = own.segmentsOut - then.segmentsOut;
      const again = own.retransmits - then.retransmits;
      if (sent < RETRANSMITS.segments) return skipped(subject, `fewer than ${RETRANSMITS.segments} segments`);
      const state = stateAbove(again / sent, { raises: RETRANSMITS.share, clears: RETRANSMITS.clearShare });
      if (state === 'fine' || again < RETRANSMITS.count) return fine(subject);
      return {
        subject,
        state,
        evidence: `${again} of ${sent} segments were sent again (${percent(again / sent)}).`,
        figures: { retransmits: again, segments: sent },
        advice: [
          'To whom: ss -ti | grep -B1 retrans',
          'Look for drops: ip -s link; tc -s qdisc show; nstat -az TcpExtTCPLostRetransmit',
        ],
      };
    }),
};

const listenDrops: Check = {
  id: 'network-listen-drops',
  area: 'network',
  severity: 'warning',
  title: 'connections are dropped before a program accepts them',
  needs: ['host'],
  minimum: 'two readings',
  raises: 'ListenOverflows grows',
  clears: 'it stands still',
  why: 'The client waits a second for its next attempt, and nothing in a log shows it.',
  source: 'tcp(7); Redis configuration file, “tcp-backlog”: net.core.somaxconn limits it',
  look: (window) =>
    hostsOf(window).map(({ subject, now, before }): Observation => {
      const [own, then] = [known(now.tcp), before === undefined ? undefined : known(before.tcp)];
      if (own === undefined || then === undefined) return skipped(subject, reasonOf(now.tcp) || 'read once only');
      const dropped = own.listenOverflows - then.listenOverflows;
      if (dropped <= 0) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `${dropped} connections did not fit into a listen queue in the window.`,
        figures: { dropped },
        advice: [
          'Which: ss -ltn (Recv-Q at Send-Q)',
          'sysctl -w net.core.somaxconn=4096, and tcp-backlog 511 of the server',
        ],
      };
    }),
};

const QUEUE_BYTES = { raises: 1 << 20, clears: 1 << 19 };

const sockets: Check = {
  id: 'network-socket-queues',
  area: 'network',
  severity: 'warning',
  title: 'bytes wait in sockets to a store or a search server',
  needs: ['sockets'],
  minimum: 'none',
  raises: `≥ ${QUEUE_BYTES.raises >> 20} MiB in the queues of one address`,
  clears: `below ${QUEUE_BYTES.clears >> 10} KiB`,
  why: 'A full send queue is a peer or a network that does not take more; a full receive queue is a process that does not read.',
  source: 'ss(8): Recv-Q and Send-Q of an established socket',
  look: (window) =>
    hostsOf(window).map((host): Observation => {
      const { subject, now } = host;
      const listed = known(now.sockets);
      if (listed === undefined) return skipped(subject, reasonOf(now.sockets));
      const places = placesOf(window, host);
      const own = listed.filter(({ remote }) => places.has(remote));
      const bytes = (one: (typeof own)[number]): number => Math.max(one.sendBytes, one.receiveBytes);
      const [worst] = own.toSorted((a, b) => bytes(b) - bytes(a));
      if (worst === undefined) return fine(subject);
      const state = stateAbove(bytes(worst), QUEUE_BYTES);
      if (state === 'fine') return fine(subject);
      return {
        subject,
        state,
        evidence: `${worst.count} sockets to ${worst.remote} hold ${worst.sendBytes} bytes to send and ${worst.receiveBytes} bytes to read.`,
        figures: { sendBytes: worst.sendBytes, receiveBytes: worst.receiveBytes },
        advice: [`ss -tnpi dst ${worst.remote}`],
      };
    }),
};

/** Addresses of store nodes and search servers, as /proc/net/tcp tells them: names as the host resolves them. */
function placesOf(window: Window, { now }: HostView): ReadonlySet<string> {
  const resolved = new Map((known(now.dns) ?? []).map(({ name, addresses }) => [name, addresses]));
  const nodes = nodesOf(window).map(({ node }) => node.address);
  const places = [...nodes, ...window.after.engines.map(({ endpoint }) => endpoint)];
  return new Set(
    places.flatMap((place) => {
      const name = hostPartOf(place);
      const port = place.slice(place.lastIndexOf(':') + 1);
      return (resolved.get(name) ?? [name]).map((one) => `${one.includes(':') ? `[${one}]` : one}:${port}`);
    }),
  );
}

// --- names ------------------------------------------------------------------------------------------------------------

const DNS = { ms: 100, clearMs: 50, ttlSeconds: 30, apartSeconds: 0.95 };

const dnsSlow: Check = {
  id: 'network-dns-slow',
  area: 'network',
  severity: 'warning',
  title: 'a configured name resolves slowly, or not at all',
  needs: ['dns'],
  minimum: 'one look-up of each name',
  raises: `a look-up takes ≥ ${DNS.ms} ms, or fails`,
  clears: `below ${DNS.clearMs} ms`,
  why: 'Each reconnect resolves the name first. Node makes look-ups in four threads, which files and compression share.',
  source: 'Node.js documentation, “dns”: dns.lookup uses the thread pool',
  look: (window) =>
    eachName(window, (subject, facts) => {
      const { name, lookupMs, problem, addresses } = facts;
      const state =
        problem === undefined ? stateAbove(lookupMs ?? 0, { raises: DNS.ms, clears: DNS.clearMs }) : 'raise';
      if (state === 'fine') return fine(subject);
      return {
        subject,
        state,
        evidence:
          problem === undefined
            ? `${name} took ${ms(lookupMs ?? 0)} to become ${addresses.join(', ')}.`
            : `${name} does not resolve: ${problem}.`,
        figures: { lookupMs: lookupMs ?? 0, ...(problem === undefined ? {} : { problem }) },
        advice: [
          `time getent ahosts ${name}`,
          'Use addresses in the configuration, or a caching resolver on this host.',
        ],
      };
    }),
};

const dnsTtl: Check = {
  id: 'network-dns-ttl',
  area: 'network',
  severity: 'info',
  title: 'a configured name is cached for a short time only',
  needs: ['dns'],
  minimum: 'two readings, a second apart, of a TTL that does not count down',
  raises: `TTL below ${DNS.ttlSeconds} s`,
  clears: 'otherwise',
  why: 'When many connections are lost at once, each reconnect waits for a DNS server.',
  source: 'RFC 2181, 8: TTL; design of serpcache: each connection resolves again',
  look: (window) =>
    eachName(window, (subject, { name, ttlSeconds }, then, seconds) => {
      if (ttlSeconds === undefined) return skipped(subject, 'no DNS server told its TTL');
      if (ttlSeconds >= DNS.ttlSeconds) return fine(subject);
      // A resolver that caches tells the time that is left, which says nothing about the record.
      if (then?.ttlSeconds === undefined || seconds < DNS.apartSeconds || ttlSeconds < then.ttlSeconds) {
        return skipped(subject, 'its TTL counts down in a cache, or was read once only');
      }
      return {
        subject,
        state: 'raise',
        evidence: `${name} has a TTL of ${ttlSeconds} s.`,
        figures: { ttlSeconds },
        advice: ['Raise the TTL of its record, or use a caching resolver on this host.'],
      };
    }),
};

/** One observation for each name that a host looked up; none without names. */
function eachName(
  window: Window,
  observe: (subject: string, facts: DnsFacts, before: DnsFacts | undefined, seconds: number) => Observation,
): readonly Observation[] {
  return hostsOf(window).flatMap(({ subject, now, before, seconds }) => {
    const then = before === undefined ? undefined : known(before.dns);
    const names = known(now.dns);
    if (names === undefined) return [skipped(subject, reasonOf(now.dns))];
    return names.map((facts) => {
      const earlier = then?.find(({ name }) => name === facts.name);
      return observe(`name ${facts.name} on ${now.name}`, facts, earlier, seconds);
    });
  });
}

// --- interfaces -------------------------------------------------------------------------------------------------------

const FULL = { share: 0.8, clearShare: 0.6 };

const interfaceFull: Check = {
  id: 'network-interface-full',
  area: 'network',
  severity: 'warning',
  title: 'a network interface is nearly full',
  needs: ['host'],
  minimum: 'the speed of the interface is known',
  raises: `≥ ${100 * FULL.share} % of its speed in one direction`,
  clears: `below ${100 * FULL.clearShare} %`,
  why: 'Replies queue in front of it; the servers look idle.',
  source: 'field report: big replies are slow because the network carries them',
  look: (window) =>
    hostsOf(window).flatMap((host): readonly Observation[] => {
      const { subject, now } = host;
      const interfaces = known(now.interfaces);
      if (interfaces === undefined) return [skipped(subject, reasonOf(now.interfaces))];
      const timed = interfaces.filter(({ speedMbit }) => speedMbit !== undefined);
      if (timed.length === 0) return [skipped(subject, 'the kernel knows the speed of no interface')];
      return timed.map((one) => usedOf(host, one));
    }),
};

function usedOf(host: HostView, one: InterfaceFacts): Observation {
  const subject = `${one.name} of ${host.now.name}`;
  const used = bitsPerSecond(host, one);
  if (used === undefined) return skipped(subject, 'read once only');
  const speedBits = (one.speedMbit ?? 0) * 1e6;
  const state = stateAbove(used / speedBits, { raises: FULL.share, clears: FULL.clearShare });
  if (state === 'fine') return fine(subject);
  return {
    subject,
    state,
    evidence: `${mbit(used)} of ${mbit(speedBits)} pass in one direction.`,
    figures: { bitsPerSecond: used, speedBits },
    advice: [`sar -n DEV 1, iftop -i ${one.name}`, 'Smaller pages: compression.coding: zstd, fewer results per page.'],
  };
}

function bitsPerSecond(host: HostView, now: InterfaceFacts): number | undefined {
  const { seconds } = host;
  const then = earlierOf(host, now);
  if (then === undefined || seconds <= 0) return undefined;
  const bytes = Math.max(now.sentBytes - then.sentBytes, now.receivedBytes - then.receivedBytes);
  return Math.max(0, (8 * bytes) / seconds);
}

function earlierOf({ before }: HostView, { name }: InterfaceFacts): InterfaceFacts | undefined {
  return (before === undefined ? undefined : known(before.interfaces))?.find((one) => one.name === name);
}

const DROPS = { raises: 10, clears: 3 };

const drops: Check = {
  id: 'network-drops',
  area: 'network',
  severity: 'info',
  title: 'a network interface drops packets',
  needs: ['host'],
  minimum: 'two readings',
  raises: `≥ ${DROPS.raises} packets a second`,
  clears: `below ${DROPS.clears} a second`,
  why: 'A dropped packet of a connection is sent again. Packets of protocols that the host does not know are counted too: these do no harm.',
  source: 'kernel documentation, “Interface statistics”: rx_dropped, tx_dropped',
  look: (window) =>
    hostsOf(window).flatMap((host): readonly Observation[] => {
      const { now, seconds } = host;
      const interfaces = known(now.interfaces);
      if (interfaces === undefined) return [skipped(host.subject, reasonOf(now.interfaces))];
      return interfaces.map((one): Observation => {
        const subject = `${one.name} of ${now.name}`;
        const then = earlierOf(host, one);
        if (then === undefined || seconds <= 0) return skipped(subject, 'read once only');
        const perSecond = Math.max(0, one.dropped - then.dropped) / seconds;
        const state = stateAbove(perSecond, DROPS);
        if (state === 'fine') return fine(subject);
        return {
          subject,
          state,
          evidence: `${perSecond.toFixed(0)} packets a second are dropped, ${one.dropped} since the interface is there.`,
          figures: { dropsPerSecond: perSecond, dropped: one.dropped },
          advice: [`Which: ip -s -s link show dev ${one.name}; ethtool -S ${one.name}`],
        };
      });
    }),
};

export const NETWORK_CHECKS: readonly Check[] = [
  ...[rtt, jitter, retransmits, listenDrops, sockets, dnsSlow, dnsTtl, interfaceFull, drops],
  ...LIMITER_CHECKS,
];
