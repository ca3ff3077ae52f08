import { createProgress } from '../../catalogue/progress.ts';
import type { WarmUp } from '../../warm/warm.ts';
import { duration, grouped } from '../admin/format.ts';
import type { Desk } from '../admin/operator-command.ts';
import { pause } from '../admin/pause.ts';

const LOOK_MS = 500;

export function isOver({ state }: WarmUp): boolean {
  return state === 'done' || state === 'stopped';
}

/** Waits until what a warm-up has taken is settled, with progress. */
export async function followWarmUp({ client, stderr, clock, signal }: Desk, started: WarmUp): Promise<WarmUp> {
  const { id, domain, taken } = started;
  const progress = createProgress({ label: `warming ${domain}`, total: taken, unit: 'queries', output: stderr, clock });
  try {
    for (;;) {
      const { warmUps } = await client.get<{ warmUps: readonly WarmUp[] }>('/admin/warm');
      const warmUp = warmUps.find((each) => each.id === id);
      if (warmUp === undefined) throw new Error(`the service does not know the warm-up ${id} any more`);
      progress.update(warmUp.settled);
      if (isOver(warmUp)) return warmUp;
      await pause(LOOK_MS, signal);
    }
  } finally {
    progress.finish();
  }
}

export function warmUpText({ domain, state, settled, cached, computed, invalid, failed, seconds }: WarmUp): string {
  const parts = [
    `${grouped(computed)} computed`,
    `${grouped(cached)} were cached`,
    ...(invalid > 0 ? [`${grouped(invalid)} are no search`] : []),
    ...(failed > 0 ? [`${grouped(failed)} failed or were refused`] : []),
  ];
  return `${domain}: warm-up ${state}, ${grouped(settled)} queries in ${duration(seconds * 1000)}: ${parts.join(', ')}`;
}
