import type { RedisNode } from '../../../loadtest/stack/redis-node.ts';
import type { Bed } from '../bed.ts';
import { allNodes, firstNode, flushed, processesAre, restarted } from '../felt.ts';
import type { Row } from '../row.ts';

const victimPids = (bed: Bed): readonly number[] => firstNode(bed).map((node) => node.pid());
const allPids = (bed: Bed): readonly number[] => allNodes(bed).map((node) => node.pid());

/** Nodes of the store die, stop, and lose what they hold. The hit ratio pays, nobody else. */
export const STORE_NODES: readonly Row[] = [
  {
    name: 'node-killed',
    says: 'a killed store node costs its own keys a miss, and what it held is back after its return',
    begin: (bed) => victim(bed).kill(),
    end: (bed) => victim(bed).restart(),
    felt: processesAre('gone', victimPids),
    bounds: { hitRatioDuring: 0.6, recoverySeconds: 20 },
  },
  {
    name: 'node-stopped',
    says: 'a store node that stops answering (SIGSTOP) costs its own keys a miss, and nothing once it goes on',
    begin: (bed) => victim(bed).pause(),
    end: async (bed) => victim(bed).resume(),
    felt: processesAre('stopped', victimPids),
    bounds: { hitRatioDuring: 0.6, recoverySeconds: 10 },
  },
  {
    name: 'node-restarted',
    says: 'a store node that restarts costs a moment',
    faultMs: 0,
    begin: (bed) => victim(bed).restart(),
    felt: restarted(firstNode),
    bounds: { hitRatioDuring: 0.5, recoverySeconds: 20 },
  },
  {
    name: 'nodes-all-killed',
    says: 'without any store the engine and L1 answer everybody',
    begin: async (bed) => {
      await Promise.all(bed.store().nodes.map((node) => node.kill()));
    },
    end: async (bed) => {
      await Promise.all(bed.store().nodes.map((node) => node.restart()));
    },
    felt: processesAre('gone', allPids),
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  },
  {
    name: 'nodes-all-stopped',
    says: 'a store that hangs as a whole costs a read deadline at most, and then nothing',
    begin: async (bed) => {
      await Promise.all(bed.store().nodes.map((node) => node.pause()));
    },
    end: async (bed) => {
      for (const node of bed.store().nodes) node.resume();
    },
    felt: processesAre('stopped', allPids),
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 15 },
  },
  {
    name: 'flushall-one',
    says: 'FLUSHALL of one node is filled again by what L1 holds and what people ask',
    faultMs: 500,
    begin: async (bed) => {
      await victim(bed).command('FLUSHALL');
    },
    felt: flushed(firstNode),
    bounds: { hitRatioDuring: 0.6, recoverySeconds: 20 },
  },
  {
    name: 'flushall-all',
    says: 'FLUSHALL of every node is filled again by what L1 holds and what people ask',
    faultMs: 500,
    begin: async (bed) => {
      await Promise.all(bed.store().nodes.map((node) => node.command('FLUSHALL')));
    },
    felt: flushed(allNodes),
    bounds: { hitRatioDuring: 0.4, recoverySeconds: 40 },
  },
];

function victim(bed: Bed): RedisNode {
  const [node] = bed.store().nodes;
  if (node === undefined) throw new Error('a store without nodes');
  return node;
}
