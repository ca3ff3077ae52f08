/** A limiter as somebody configures it: what tc is told, and whether it is right for the load. */
export interface Variant {
  readonly name: string;
  readonly kind: 'none' | 'tbf' | 'htb';
  readonly isRight: boolean;
  /** As the namespace's `shape` takes it. */
  readonly discipline?: readonly string[];
  readonly classes?: readonly (readonly string[])[];
}

/**
 * Ticks a second of the usual Debian and Ubuntu kernel. It is not asked for: tc itself assumes 10⁹ where timers are fine,
 * and from that comes the burst of 1600 bytes that it gives whoever names none.
 */
const TICKS_PER_SECOND = 250;
/** Of what must fit at least: a burst that only just fits is held back when a second one follows. */
const ROOM = 4;
/** Just over one packet: what tc chooses for htb (rate ÷ 10⁹ + 1600), and what people copy from examples for slow lines. */
const ONE_PACKET_BYTES = 1600;
/** Three packets. */
const FEW_PACKETS_BYTES = 4608;

/** tc-tbf(8): what a bucket holds must be at least rate ÷ HZ, else more tokens come with a tick than fit. */
export function leastBurstBytes(rateBytesPerSecond: number): number {
  return rateBytesPerSecond / TICKS_PER_SECOND;
}

/** What to raise a burst to. @param largestBytes that are asked for at once. */
export function rightBurstBytes(rateBytesPerSecond: number, largestBytes: number): number {
  return Math.ceil(Math.max(ROOM * leastBurstBytes(rateBytesPerSecond), largestBytes) / 1000) * 1000;
}

/** All at one rate, which is never the difference. `queue`: as a time at this rate, what tc-tbf(8) calls latency. */
export function variantsOf(rateBytesPerSecond: number, largestBytes: number): readonly Variant[] {
  const rate = ['rate', `${(rateBytesPerSecond * 8) / 1e6}mbit`];
  const right = rightBurstBytes(rateBytesPerSecond, largestBytes);
  const tbf = (burst: number, queueMs: number): Pick<Variant, 'kind' | 'discipline'> => ({
    kind: 'tbf',
    discipline: ['tbf', ...rate, 'burst', String(burst), 'latency', `${queueMs}ms`],
  });
  const htb = (...bursts: readonly (string | number)[]): Pick<Variant, 'kind' | 'discipline' | 'classes'> => ({
    kind: 'htb',
    discipline: ['htb', 'default', '10'],
    // The quantum only divides among classes; named, so that tc does not complain of its own choice.
    classes: [['parent', '1:', 'classid', '1:10', 'htb', ...rate, ...bursts.map(String), 'quantum', '60000']],
  });
  return [
    { name: 'no limiter', kind: 'none', isRight: true },
    { name: 'tbf, right', isRight: true, ...tbf(right, 50) },
    { name: 'tbf, burst of 3 packets', isRight: false, ...tbf(FEW_PACKETS_BYTES, 50) },
    { name: 'tbf, burst of 3 packets, queue of 1 ms', isRight: false, ...tbf(FEW_PACKETS_BYTES, 1) },
    { name: 'tbf, burst of rate ÷ HZ, queue of 1 ms', isRight: false, ...tbf(leastBurstBytes(rateBytesPerSecond), 1) },
    { name: 'htb, right', isRight: true, ...htb('burst', right, 'cburst', right) },
    { name: 'htb, burst of 1 packet', isRight: false, ...htb('burst', ONE_PACKET_BYTES, 'cburst', right) },
    { name: 'htb, cburst of 1 packet', isRight: false, ...htb('burst', right, 'cburst', ONE_PACKET_BYTES) },
    { name: 'htb, no burst named', isRight: false, ...htb() },
  ];
}
