import type { Placement } from '../../../src/control/document.ts';
import { storeContract } from '../../contract/store.ts';
import { COMMITTED, createPair, PREPARED } from './harness.ts';

const PLACEMENTS: Readonly<Record<string, Placement>> = {
  'a prepared cut-over': PREPARED,
  'a committed cut-over': COMMITTED,
};

for (const [name, placement] of Object.entries(PLACEMENTS)) {
  storeContract(`a placed store, ${name}`, async () => {
    const { old, candidate, placed } = createPair();
    placed.follow(placement);
    const stores = [old, candidate];
    return {
      store: placed,
      owners: placed.content.nodes(),
      stall: async () => {
        // Later than the deadlines that must expire in the contract.
        for (const store of stores) store.meet({ kind: 'slow', replyAfterMs: 500 });
        return () => {
          for (const store of stores) store.meet({ kind: 'none' });
        };
      },
      lose: async () => {
        for (const store of stores) store.lose();
      },
      stop: placed.close,
    };
  });
}
