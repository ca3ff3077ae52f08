import type { QdiscFacts } from '../facts.ts';

/** The output of `tc -s -d qdisc show`: one paragraph for each queueing discipline. */
export function qdiscsOf(shown: string): readonly QdiscFacts[] {
  return shown
    .split(/^(?=qdisc )/m)
    .filter((text) => text.startsWith('qdisc '))
    .map(qdiscOf);
}

function qdiscOf(text: string): QdiscFacts {
  const [head = '', ...rest] = text.split('\n');
  const statistics = rest.join(' ');
  const [, kind = '', handle = '', device = '', place = ''] =
    /^qdisc (\S+) (\S+) dev (\S+) (root|parent \S+|ingress)?/.exec(head) ?? [];
  const count = (pattern: RegExp): number => Number(pattern.exec(statistics)?.[1] ?? 0);
  const rateBits = rateOf(/\brate (\S+)/.exec(head)?.[1]);
  const burstBytes = bytesOf(/\bburst (\d+[KMG]?b)/i.exec(head)?.[1]);
  const limitBytes = bytesOf(/\blimit (\d+[KMG]?b)\b/i.exec(head)?.[1]);
  const latencyMs = timeOf(/\b(?:lat|latency|delay) (\S+)/.exec(head)?.[1]);
  return {
    ...{ device, kind, handle, parent: place === '' ? 'root' : place.replace('parent ', '') },
    ...(rateBits === undefined ? {} : { rateBits }),
    ...(burstBytes === undefined ? {} : { burstBytes }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(latencyMs === undefined ? {} : { latencyMs }),
    sentBytes: count(/Sent (\d+) bytes/),
    sentPackets: count(/Sent \d+ bytes (\d+) pkt/),
    dropped: count(/dropped (\d+)/),
    overlimits: count(/overlimits (\d+)/),
    backlogBytes: bytesOf(/backlog (\d+[KMG]?b)/i.exec(statistics)?.[1]) ?? 0,
  };
}

const PREFIX: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
const BINARY: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** `50Mbit`, `1Gbit`, `800Kbit`, `64000bit`; in bits a second. */
function rateOf(text: string | undefined): number | undefined {
  const [, value, prefix = ''] = /^([\d.]+)([KMGT]?)bit$/i.exec(text ?? '') ?? [];
  return value === undefined ? undefined : Number(value) * (PREFIX[prefix.toLowerCase()] ?? 1);
}

/** `2Kb`, `1600b`: tc writes bytes so, with powers of 1024. */
function bytesOf(text: string | undefined): number | undefined {
  const [, value, prefix = ''] = /^(\d+)([KMG]?)b$/i.exec(text ?? '') ?? [];
  return value === undefined ? undefined : Number(value) * (BINARY[prefix.toLowerCase()] ?? 1);
}

/** `40ms`, `1s`, `500us`; in milliseconds. */
function timeOf(text: string | undefined): number | undefined {
  const [, value, unit] = /^([\d.]+)(us|ms|s)$/.exec(text ?? '') ?? [];
  if (value === undefined) return undefined;
  return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's'];
}
