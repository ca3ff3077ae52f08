import { beginLine } from './begin-line.ts';
import type { Change, Changed } from './control.ts';
import { countLimit } from './counts.ts';
import type { ControlDocument } from './document.ts';
import { decodeDocument, encodeDocument } from './document-codec.ts';
import type { Follower, Standing } from './follower.ts';
import { forget, noteLongestLife } from './forget.ts';
import { descendant } from './lineage.ts';
import { pause } from './pause.ts';
import { OperationRefused } from './refusal.ts';

export interface ChangeOptions {
  readonly domain: string;
  readonly follower: Pick<Follower, 'look' | 'put'>;
  readonly wallMs: () => number;
  readonly random: () => number;
  readonly stamp: () => string;
  /** How long an entry may be served at most by this process's policy, from the start of its engine call. */
  readonly longestLifeMs: number;
}

/** Writers that are faster; each of them has done its change then. */
const MAX_CONFLICTS = 64;
const MAX_ABSENCES = 3;
const MAX_PAUSE_MS = 50;

/** Compare-and-set by the newest document, until it is done or cannot be said. @throws OperationRefused */
export async function changeDocument(change: Change, options: ChangeOptions): Promise<Changed> {
  const { domain, follower, wallMs, random, stamp, longestLifeMs } = options;
  let absences = 0;
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; ) {
    const standing = await follower.look();
    if (standing.kind === 'corrupt') {
      if (standing.owed === undefined) throw unavailable(domain, standing);
      // Restored first; whoever was faster has done that too.
      await follower.put(standing.owed, standing.expected, false);
      conflicts += 1;
      continue;
    }
    if (standing.kind === 'away') {
      absences += 1;
      if (absences === MAX_ABSENCES) throw unavailable(domain, standing);
      await pause(MAX_PAUSE_MS * random());
      continue;
    }
    const { newest: before, expected } = standing;
    const nowMs = wallMs();
    const noted = noteLongestLife(beginLine(before, nowMs), nowMs, longestLifeMs);
    const known = forget(noted, nowMs, longestLifeMs);
    const changed = change(known);
    if (changed === known) return { before, after: before };
    const after = descendant(changed, before, stamp());
    check(after, wallMs());
    const put = await follower.put(after, expected, true);
    if (put === 'done') return { before, after };
    if (put === 'unknown')
      throw refusal(
        `the control store of ${domain} did not answer: the change may be made or not; look before you try again`,
      );
    conflicts += 1;
    await pause(Math.min(MAX_PAUSE_MS, conflicts * 2) * random());
  }
  throw refusal(`${MAX_CONFLICTS} others who changed ${domain} were faster; nothing was changed`);
}

/** Nobody writes what nobody could read. @throws OperationRefused invalid-request, control-full */
function check(document: ControlDocument, nowMs: number): void {
  const limit = countLimit(nowMs);
  if (Math.max(document.revision, document.generation) > limit) {
    throw new OperationRefused(
      'control-full',
      `revision ${document.revision} or generation ${document.generation} is above ${limit}, the most by this process's clock; it rises by one a second: try again, or correct the clock`,
    );
  }
  const decoded = decodeDocument(encodeDocument(document), nowMs);
  if (decoded.kind === 'fault') throw new OperationRefused('invalid-request', decoded.detail);
}

function unavailable(domain: string, { kind, detail }: Exclude<Standing, { kind: 'there' }>): OperationRefused {
  return refusal(
    kind === 'corrupt'
      ? `the control document of ${domain} cannot be believed (${detail}) and is not written over here; once its key is deleted, processes that know one write it back`
      : `the control store of ${domain} cannot be asked now (${detail}); nothing was changed`,
  );
}

function refusal(words: string): OperationRefused {
  return new OperationRefused('control-unavailable', words);
}
