import type { TcpProxy } from '../../../loadtest/fault-proxy/tcp-proxy.ts';
import type { Toxic } from '../../../loadtest/fault-proxy/toxiproxy.ts';
import { connectionsEnded, faultEffect, nodesHaveNoClients } from '../fault-effects.ts';
import { type Exchange, echo } from '../probes.ts';
import type { FaultEffect, Row } from '../row.ts';
import { STORE_NAME } from '../stores.ts';

/** An ECHO to every node through its proxy, on the subject's path. */
function echoes(
  what: string,
  { payloadBytes, boundMs }: { readonly payloadBytes: number; readonly boundMs: number },
  proves: (before: Exchange, during: Exchange) => boolean,
): FaultEffect {
  return faultEffect(
    `${what} of a reply of ${payloadBytes} bytes`,
    (harness) => Promise.all(harness.store().addresses.map((address) => echo(address, payloadBytes, boundMs))),
    (before, during) => {
      const pairs = during.flatMap((now, at) => before.slice(at, at + 1).map((earlier) => proves(earlier, now)));
      return pairs.length > 0 && pairs.every(Boolean);
    },
  );
}

const BOUND_MS = 3000;
const repliesAreLate = echoes(
  'delay',
  { payloadBytes: 1, boundMs: BOUND_MS },
  (before, during) => before.ms < 150 && during.bytes > 0 && during.ms >= 190,
);
const bandwidthIsLow = echoes(
  'delay',
  { payloadBytes: 32_768, boundMs: BOUND_MS },
  (before, during) => before.ms < 200 && during.bytes > 0 && during.ms >= 400,
);
const repliesComeInPieces = echoes(
  'pieces',
  // The kernel joins the pieces of short replies.
  { payloadBytes: 32_768, boundMs: BOUND_MS },
  (before, during) => before.pieces > 0 && during.pieces >= 5 * before.pieces,
);
// A short bound is enough: no reply arrives at any time, and waiting would prolong the fault.
const repliesAreLost = echoes(
  'loss',
  { payloadBytes: 1, boundMs: 300 },
  (before, during) => before.bytes > 0 && during.bytes === 0,
);

/** Faults between the service and its store: latency, resets, low bandwidth and fragmentation. */
export const STORE_NETWORK: readonly Row[] = [
  {
    name: 'latency-200ms',
    store: 'behind-toxics',
    summary: 'a store 200 ms away is a miss after the read deadline, and its late replies still fill L1',
    ...toxic({ type: 'latency', attributes: { latency: 200 } }),
    effect: repliesAreLate,
    bounds: { hitRatioDuring: 0.4, connectionsOpened: 20 },
  },
  {
    name: 'resets-1-percent',
    store: 'behind-tcp',
    summary: 'connections reset in one read of a hundred cost only those reads',
    begin: eachProxy((proxy) => proxy.reset(0.01)),
    end: eachProxy((proxy) => proxy.reset(0)),
    effect: connectionsEnded('some'),
    bounds: { hitRatioDuring: 0.7, connectionsOpened: 200 },
  },
  {
    name: 'bandwidth',
    store: 'behind-toxics',
    summary: 'a store behind a slow link (50 KiB/s per connection) costs misses, but no memory and no time',
    ...toxic({ type: 'bandwidth', attributes: { rate: 50 } }),
    effect: bandwidthIsLow,
    bounds: { hitRatioDuring: 0.4, connectionsOpened: 40 },
  },
  {
    name: 'bytewise',
    store: 'behind-toxics',
    summary: 'replies that arrive byte by byte are reassembled',
    ...toxic({ type: 'slicer', attributes: { average_size: 1, delay: 1 } }),
    effect: repliesComeInPieces,
    bounds: { hitRatioDuring: 0.4, connectionsOpened: 40 },
  },
  {
    name: 'black-hole',
    store: 'behind-tcp',
    summary: 'a store that swallows everything costs its read deadline, and no more connections than it has nodes',
    begin: eachProxy((proxy) => proxy.pause()),
    end: eachProxy((proxy) => proxy.resume()),
    effect: repliesAreLost,
    bounds: { hitRatioDuring: 0.4, connectionsOpened: 20 },
  },
  {
    name: 'cut-once',
    store: 'behind-tcp',
    summary: 'every connection to the store cut at once costs a moment',
    faultMs: 500,
    begin: eachProxy((proxy) => proxy.cut()),
    effect: connectionsEnded('all'),
    bounds: { connectionsOpened: 20 },
  },
  {
    name: 'name-gone',
    store: 'named',
    summary: 'a store whose name stops resolving is a miss, and is found again when it resolves',
    ...resolvesTo('ENOTFOUND'),
    effect: nodesHaveNoClients,
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 15, connectionsOpened: 20 },
  },
  {
    name: 'name-silent',
    store: 'named',
    summary: 'a resolver that does not answer costs what a name that does not resolve costs',
    ...resolvesTo('silence'),
    effect: nodesHaveNoClients,
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 20, connectionsOpened: 20 },
  },
];

function eachProxy(act: (proxy: TcpProxy) => void): Row['begin'] {
  return async (harness) => harness.store().tcp.forEach(act);
}

/** The name of the store resolves no longer, and its connections are cut. */
function resolvesTo(fault: 'ENOTFOUND' | 'silence'): Pick<Row, 'begin' | 'end'> {
  return {
    begin: async ({ names, store }) => {
      names.set(STORE_NAME, fault);
      for (const proxy of store().tcp) proxy.cut();
    },
    end: async ({ names }) => names.set(STORE_NAME, ['127.0.0.1']),
  };
}

function toxic(what: Toxic): Pick<Row, 'begin' | 'end'> {
  return {
    begin: async (harness) => {
      for (const proxy of harness.store().toxics) await proxy.add(what);
    },
    end: async (harness) => {
      for (const proxy of harness.store().toxics) await proxy.heal();
    },
  };
}
