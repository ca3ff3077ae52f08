/** How long a client keeps a connection. */
export interface Manner {
  readonly name: string;
  /** Commands of one connection; undefined: kept for ever. */
  readonly every: number | undefined;
  /** As published, for some numbers of clients. */
  readonly published: Readonly<Record<number, string>>;
}

/** As published. */
export const CLIENTS = [200, 800, 2000];

/** For the third and fourth nobody said with how many clients: they stand at the most. */
export const MANNERS: readonly Manner[] = [
  { name: 'kept', every: undefined, published: { 200: '60 ms, 100 % CPU', 2000: '190 ms, 100 % CPU' } },
  { name: 'new after 70', every: 70, published: {} },
  { name: 'new after 5', every: 5, published: { 2000: '~600 ms, ~60 % CPU' } },
  { name: 'new each time', every: 1, published: { 2000: '> 1000 ms, 40–50 % CPU' } },
];

/** Published mean latency of kept connections, by clients; for the other manners nobody said how many there were. */
export const KEPT_PUBLISHED_MS: Readonly<Record<number, number>> = { 200: 60, 2000: 190 };
