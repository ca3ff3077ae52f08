import type { Sample } from '../sample/sample.ts';

/** `goods-1` and `goods-2` are the store of goods: they are widened together. */
export function storeDomainOf(node: string): string {
  return node.replace(/-\d+$/, '');
}

/** Of all stores that were seen, in the order in which they were. */
export function storeDomains(samples: readonly Sample[]): readonly string[] {
  return [...new Set(samples.flatMap(({ stores }) => stores.map(({ name }) => storeDomainOf(name))))];
}
