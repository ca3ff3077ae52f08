import type { Variant } from './variants.ts';

/**
 * A small network of the reader's own, as root: on loopback nothing is limited that leaves by a real interface, packets
 * are as large as loopback has them, and a limiter there is one for everything else on the machine.
 */
const [NAMESPACE, ADDRESS, OURS] = ['limited', '198.18.0.2', '198.18.0.1'];
const WITHIN = `nsenter --net=/run/netns/${NAMESPACE}`;
/** Inside: what leaves by it are replies. */
const DEVICE = 'limited-in';
const MEAN_PAGE_BYTES = 10_240;

/** What sets it up, whatever was there before. */
export function tcCommand({ discipline, classes = [] }: Variant): string {
  const tc = `${WITHIN} tc`;
  const bare = `${tc} qdisc del dev ${DEVICE} root 2>&-`;
  if (discipline === undefined) return bare;
  const add = `${tc} qdisc add dev ${DEVICE} root handle 1: ${discipline.join(' ')}`;
  return [bare, add, ...classes.map((one) => `${tc} class add dev ${DEVICE} ${one.join(' ')}`)].join('; ');
}

/** @param keys that are read. The first row makes the namespace and fills its store, the last one takes it away. */
export function commandOf(variant: Variant, keys: number, place: 'first' | 'last' | 'between'): string {
  const reads = `redis-benchmark -h ${ADDRESS} -c 8 -P 8 -n 20000 -r ${keys} GET page:__rand_int__`;
  return [
    ...(place === 'first' ? [SET_UP, fillOf(keys)] : []),
    tcCommand(variant),
    reads,
    ...(place === 'last' ? [`redis-cli -h ${ADDRESS} shutdown nosave`, `ip netns del ${NAMESPACE}`] : []),
  ].join('; ');
}

const SET_UP = [
  `ip netns add ${NAMESPACE}`,
  `ip link add limited-out type veth peer name ${DEVICE} netns ${NAMESPACE}`,
  `ip addr add ${OURS}/30 dev limited-out`,
  'ip link set limited-out up',
  `${WITHIN} ip addr add ${ADDRESS}/30 dev ${DEVICE}`,
  `${WITHIN} ip link set ${DEVICE} up`,
  `${WITHIN} redis-server --bind ${ADDRESS} --protected-mode no --save '' --daemonize yes`,
  'sleep 1',
].join('; ');

/** So often that none is left out. */
function fillOf(keys: number): string {
  return `redis-benchmark -h ${ADDRESS} -q -P 8 -n ${keys * 15} -r ${keys} SET page:__rand_int__ $(printf %0${MEAN_PAGE_BYTES}d 0)`;
}
