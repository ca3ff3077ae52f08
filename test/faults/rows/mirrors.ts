import type { Bed } from '../bed.ts';
import { processesAre } from '../felt.ts';
import type { Row } from '../row.ts';

/** One of two engine endpoints is lost: the other takes over. */
export const MIRRORS: readonly Row[] = [
  mirrorRow({
    name: 'mirror-killed',
    says: 'with one of two searchds dead (kill −9) the other answers, whoever asks',
    hurt: (bed) => bed.engine.end('SIGKILL'),
    state: 'gone',
    heal: (bed) => bed.engine.start(),
    bounds: { unansweredDuring: 0.01, recoverySeconds: 15 },
  }),
  mirrorRow({
    name: 'mirror-stopped',
    says: 'with one of two searchds hanging (SIGSTOP) the other answers, once a probe has told',
    hurt: (bed) => bed.engine.pause(),
    state: 'stopped',
    heal: async (bed) => bed.engine.resume(),
    // New searches that went to it before the probe, every five seconds, waited for their deadline.
    bounds: { unansweredDuring: 0.03, knownUnansweredDuring: 0.01, unansweredAfter: 0.01, recoverySeconds: 15 },
  }),
];

function mirrorRow({
  name,
  says,
  hurt,
  state,
  heal,
  bounds,
}: {
  readonly name: string;
  readonly says: string;
  readonly hurt: (bed: Bed) => Promise<void>;
  /** State of the searchd that was hurt. */
  readonly state: 'gone' | 'stopped';
  readonly heal: (bed: Bed) => Promise<void>;
  readonly bounds: NonNullable<Row['bounds']>;
}): Row {
  let unreachable = 0;
  return {
    name,
    says,
    mirrored: true,
    faultMs: 10_000,
    begin: hurt,
    end: async (bed) => {
      unreachable = 2 - (await bed.subject.metric('serpcache_engine_endpoint_reachable'));
      await heal(bed);
    },
    felt: processesAre(state, (bed) => [bed.engine.pid()]),
    check: () => (unreachable === 1 ? {} : { broken: [`${unreachable} of 2 endpoints were found unreachable`] }),
    bounds,
  };
}
