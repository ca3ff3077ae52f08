import type { Check, Observation, Window } from '../check.ts';
import { type InterfaceFacts, known } from '../facts.ts';
import {
  dataNodesOf,
  fine,
  type HostView,
  hostsOf,
  median,
  nodesOf,
  reasonOf,
  skipped,
  stateAbove,
} from '../window.ts';
import { LIMITER_CHECKS, mbit } from './limiters.ts';

const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
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
  raises: `the median PING takes ≥ ${RTT.ms} ms, or ≥ ${100 * RTT.deadlineShare} % of the deadline of a read`,
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
      const state = stateAbove(medianMs, { raises, clears: Math.min(RTT.clearMs, raises) });
      if (state === 'fine') return fine(subject);
      return {
        subject,
        state,
        evidence: `PING takes ${ms(medianMs)} in the median of ${times.length}, at worst ${ms(Math.max(...times))}; a read has ${ms(deadlineMs)}.`,
        figures: { medianMs, maxMs: Math.max(...times), deadlineMs },
        advice: [
          'Put the store into the same zone, without a proxy between.',
          `Where the time goes: mtr -T -P PORT ${node.address}`,
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
  raises: `the worst PING is ≥ ${JITTER.times} times the median and ≥ ${JITTER.aboveMs} ms above the intrinsic latency of this host`,
  clears: `less than ${JITTER.clearMs} ms above it`,
  why: 'A stall of the network or of the node makes reads miss their deadline although the median is good.',
  source: 'Redis documentation, “Diagnosing latency issues”: intrinsic latency; the field report’s tc queue',
  look: (window) => {
    const own = window.after.hosts.find(({ role }) => role === 'service');
    const intrinsic = own === undefined ? undefined : known(own.intrinsic);
    const loop = window.after.service?.loop.delayMs ?? 0;
    return dataNodesOf(window).map(({ node, subject }): Observation => {
      const times = known(node.rtt);
      const medianMs = median(times ?? []);
      if (times === undefined || medianMs === undefined || times.length < JITTER.samples || intrinsic === undefined) {
        return skipped(subject, reasonOf(node.rtt) || 'too few PINGs, or no intrinsic latency');
      }
      const maxMs = Math.max(...times);
      // A busy event loop and a busy host are late with replies that have come: that is no stall of the network.
      const aboveMs = maxMs - Math.max(intrinsic.maxMs, loop);
      const state = stateAbove(aboveMs, { raises: JITTER.aboveMs, clears: JITTER.clearMs });
      if (state === 'fine' || maxMs < JITTER.times * medianMs) return fine(subject);
      return {
        subject,
        state,
        evidence: `PING took ${ms(maxMs)} at worst and ${ms(medianMs)} in the median; timers of this host are at most ${ms(intrinsic.maxMs)} late, its event loop ${ms(loop)}.`,
        figures: { maxMs, medianMs, intrinsicMaxMs: intrinsic.maxMs, loopDelayMs: loop },
        advice: [
          'On the path: tc -s qdisc show; ip -s link; on the node: redis-cli --intrinsic-latency 10, LATENCY DOCTOR',
        ],
      };
    });
  },
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
  why: 'A lost packet costs at least 200 ms, four times the deadline of a read.',
  source: 'RFC 6298 and Linux: the minimum of the retransmission timer is 200 ms',
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
  look: (window) => {
    const places = placesOf(window);
    return hostsOf(window).map(({ subject, now }): Observation => {
      const listed = known(now.sockets);
      if (listed === undefined) return skipped(subject, reasonOf(now.sockets));
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
    });
  },
};

/** Addresses of store nodes and search servers, as /proc/net/tcp writes them. */
function placesOf(window: Window): ReadonlySet<string> {
  const nodes = nodesOf(window).map(({ node }) => node.address);
  return new Set([...nodes, ...window.after.engines.map(({ endpoint }) => endpoint)]);
}

// --- names ------------------------------------------------------------------------------------------------------------

const DNS = { ms: 100, clearMs: 50, ttlSeconds: 30 };

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
    namesOf(window).map(({ subject, facts }): Observation => {
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
  minimum: 'a DNS server told the TTL',
  raises: `TTL below ${DNS.ttlSeconds} s`,
  clears: 'otherwise',
  why: 'When many connections are lost at once, each reconnect waits for a DNS server.',
  source: 'RFC 2181, 8: TTL; design of serpcache: each connection resolves again',
  look: (window) =>
    namesOf(window).map(({ subject, facts: { name, ttlSeconds } }): Observation => {
      if (ttlSeconds === undefined) return skipped(subject, 'no DNS server told its TTL');
      if (ttlSeconds >= DNS.ttlSeconds) return fine(subject);
      return {
        subject,
        state: 'raise',
        evidence: `${name} has a TTL of ${ttlSeconds} s.`,
        figures: { ttlSeconds },
        advice: ['Raise the TTL of its record, or use a caching resolver on this host.'],
      };
    }),
};

function namesOf(window: Window) {
  return hostsOf(window).flatMap(({ now }) =>
    (known(now.dns) ?? []).map((facts) => ({ subject: `name ${facts.name} on ${now.name}`, facts })),
  );
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
    hostsOf(window).flatMap((host) =>
      (known(host.now.interfaces) ?? []).flatMap((one): readonly Observation[] => {
        if (one.speedMbit === undefined) return [];
        const subject = `${one.name} of ${host.now.name}`;
        const used = bitsPerSecond(host, one);
        if (used === undefined) return [skipped(subject, 'read once only')];
        const share = used / (one.speedMbit * 1e6);
        const state = stateAbove(share, { raises: FULL.share, clears: FULL.clearShare });
        if (state === 'fine') return [fine(subject)];
        return [
          {
            subject,
            state,
            evidence: `${mbit(used)} of ${mbit(one.speedMbit * 1e6)} pass in one direction.`,
            figures: { bitsPerSecond: used, speedBits: one.speedMbit * 1e6 },
            advice: [
              `sar -n DEV 1, iftop -i ${one.name}`,
              'Smaller pages: compression.coding: zstd, fewer results per page.',
            ],
          },
        ];
      }),
    ),
};

function bitsPerSecond({ before, seconds }: HostView, now: InterfaceFacts): number | undefined {
  const then = (before === undefined ? undefined : known(before.interfaces))?.find(({ name }) => name === now.name);
  if (then === undefined || seconds <= 0) return undefined;
  const bytes = Math.max(now.sentBytes - then.sentBytes, now.receivedBytes - then.receivedBytes);
  return Math.max(0, (8 * bytes) / seconds);
}

export const NETWORK_CHECKS: readonly Check[] = [
  ...[rtt, jitter, retransmits, listenDrops, sockets, dnsSlow, dnsTtl, interfaceFull],
  ...LIMITER_CHECKS,
];
