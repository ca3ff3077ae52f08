import { isIPv4, isIPv6 } from 'node:net';

/**
 * One spelling per IP address: dotted for IPv4, also when it comes IPv4-mapped; eight groups for IPv6, without a zone.
 * Undefined when it is none.
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  const groups = groupsOf(text);
  const [high, low] = groups.slice(6);
  if (high === undefined || low === undefined) return undefined;
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  return groups.map((group) => group.toString(16)).join(':');
}

/** Who shares an address's budget: an IPv4 address stands for itself, an IPv6 one for its /64, which is one subscriber's. */
export function subscriberOf(canonical: string): string {
  return canonical.includes(':') ? `${canonical.split(':', 4).join(':')}::/64` : canonical;
}

function groupsOf(ipv6: string): readonly number[] {
  const [bare = ''] = ipv6.split('%', 1);
  // A dotted tail is two groups.
  const hex = bare.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => {
    const [a, b, c, d] = bytes.map(Number) as [number, number, number, number];
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = '', tail] = hex.split('::');
  const numbers = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((each) => Number.parseInt(each, 16));
  const left = numbers(head);
  const right = tail === undefined ? [] : numbers(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}
