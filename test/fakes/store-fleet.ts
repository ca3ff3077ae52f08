import type { Store } from '../../src/cache/store.ts';
import type { Clock } from '../../src/runtime.ts';
import type { FakeFault, FakeValues } from './lease-store.ts';

export interface FakeFleet extends Pick<Store, 'seedMany' | 'epochs' | 'beat' | 'leave'> {
  /** The epoch and the fleet are lost, as with the server's memory. What `values` held is its owner's to remove. */
  readonly forget: () => void;
}

/** What a fleet shares through its store beside leases, in memory: seeding, one part with its epoch, the head count. */
export function createFakeFleet(
  values: FakeValues,
  clock: Clock,
  node = 'memory:0',
  fault: FakeFault = () => undefined,
): FakeFleet {
  const fleet = new Map<string, number>();
  let words = 0;
  let epoch: string | undefined;

  return {
    seedMany: async (items) =>
      items.map(({ name, value, ttlMs }) => {
        const broken = fault();
        if (broken !== undefined) return { kind: 'dropped', fault: broken };
        if (values.get(name) !== undefined) return { kind: 'kept' };
        values.set(name, Buffer.from(value), ttlMs);
        return { kind: 'stored' };
      }),
    async epochs() {
      if (fault() !== undefined) return [];
      if (epoch === undefined) {
        words += 1;
        epoch = `epoch-${words}`;
      }
      return [{ part: 'memory', node, epoch }];
    },
    async beat(id, ttlMs) {
      const broken = fault();
      if (broken !== undefined) return { kind: 'fault', fault: broken };
      const nowMs = clock.monotonicMs();
      fleet.set(id, nowMs + ttlMs);
      for (const [each, untilMs] of [...fleet]) if (untilMs <= nowMs) fleet.delete(each);
      return { kind: 'fleet', live: fleet.size, rank: [...fleet.keys()].sort().indexOf(id) };
    },
    async leave(id) {
      if (fault() === undefined) fleet.delete(id);
    },
    forget() {
      epoch = undefined;
      fleet.clear();
    },
  };
}
