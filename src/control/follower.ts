import { type Signing, seal, unseal } from '../cache/signing.ts';
import type { Clock } from '../runtime.ts';
import { secondsSince2020, stepFault } from './changes.ts';
import type { ControlEvent } from './control.ts';
import type { ControlRead, ControlStore, ControlValue } from './control-store.ts';
import { type ControlDocument, emptyDocument, MAX_GENERATION, tagOf } from './document.ts';
import { type DecodedDocument, type DocumentFault, decodeDocument, encodeDocument } from './document-codec.ts';
import { descendant, lineageOf, merge } from './merge.ts';
import { endOverlay, type OverlayLease } from './overlay.ts';
import { pause } from './pause.ts';

/** What this process knows of a control document, and how that stands to what is stored. */
export interface Follower {
  readonly known: () => ControlDocument;
  /** Asks the store, follows what is newer, and says what stands there. */
  readonly look: () => Promise<Standing>;
  /** Puts `next` there, and follows it when that was done. `unknown`: it may have been, or may be later. */
  readonly put: (next: ControlDocument, expected: string | undefined, own: boolean) => Promise<Put>;
}

export type Put = 'done' | 'conflict' | 'unknown';

export type Standing =
  | { readonly kind: 'away'; readonly detail: string }
  | {
      readonly kind: 'corrupt';
      readonly detail: string;
      /** The tag of what cannot be believed. */
      readonly expected: string;
      /** What this process knows and should write over it; undefined: it knows none, or another version wrote that. */
      readonly owed: ControlDocument | undefined;
    }
  | {
      readonly kind: 'there';
      /** The tag in the store; undefined: nothing is there. */
      readonly expected: string | undefined;
      /** The newest of everything that this process and the store know, void drills left out. */
      readonly newest: ControlDocument;
      /** What should be in the store, where it is not. */
      readonly owed: ControlDocument | undefined;
      /** The store knows less than this process. */
      readonly hasLost: boolean;
    };

export interface FollowerOptions {
  readonly domain: string;
  readonly store: ControlStore;
  readonly clock: Clock;
  /** With keys, documents are signed, and one that is not is corrupt. */
  readonly signing?: Signing | undefined;
  readonly lease: OverlayLease;
  readonly stamp: () => string;
  readonly deadlineMs: number;
  readonly onAdopted: (document: ControlDocument, own: boolean) => void;
  readonly observe: (event: ControlEvent) => void;
}

/** Of a change of one's own. What a poll could not put, the next one will. */
const MAX_ATTEMPTS = 4;
/** A connection that was lost under a swap is back by then, mostly. */
const RECONNECT_MS = 50;

/** A value that somebody changed under its old tag is found by reading it whole so often. */
const READ_WHOLE_MS = 10_000;

interface Stored {
  readonly tag: string;
  readonly decoded: DecodedDocument;
  /** It was not signed with the current key. */
  readonly isWeak: boolean;
  /** Against what this process knows. */
  readonly isChecked: boolean;
}

export function createFollower(options: FollowerOptions): Follower {
  const { domain, store, clock, signing, lease, stamp, deadlineMs, onAdopted, observe } = options;
  let known: ControlDocument = emptyDocument;
  let stored: Stored | undefined;
  /** When a document, or that there is none, was last read. */
  let believedAtMs = clock.monotonicMs();
  let readWholeAtMs = Number.NEGATIVE_INFINITY;
  let lastFault: string | undefined;

  const sealed = (document: ControlDocument): ControlValue => {
    const { tag, value } = encodeDocument(document);
    return { tag, value: seal(signing, 'document', '', value) };
  };
  const opened = ({ tag, value }: ControlValue): Stored => {
    const unsealed = unseal(signing, 'document', '', value);
    if (unsealed.kind === 'refused') {
      const decoded = { kind: 'fault', why: 'unsigned', detail: unsealed.detail } as const;
      return { tag, isWeak: false, isChecked: false, decoded };
    }
    const decoded = decodeDocument({ tag, value: unsealed.bytes }, clock.wallMs());
    return { tag, isWeak: unsealed.isWeak, isChecked: false, decoded };
  };
  /** What every reader would say of a document that was made here. */
  const check = (document: ControlDocument): DecodedDocument =>
    decodeDocument(encodeDocument(document), clock.wallMs());
  /** Times are left out: those far in the future were read as others by each process. */
  const contentOf = (document: ControlDocument): string =>
    JSON.stringify(check(document), (name, value: unknown) => (name === 'atMs' ? 0 : value));

  const believe = (): void => {
    believedAtMs = clock.monotonicMs();
    lastFault = undefined;
  };

  const adopt = (document: ControlDocument, own: boolean): void => {
    if (tagOf(document) === tagOf(known)) return;
    known = document;
    lease.follow(document.overlay);
    onAdopted(document, own);
    observe({ kind: 'control-changed', domain, revision: document.revision, own });
  };

  const standingOf = (
    sentAtMs: number,
    expected: string | undefined,
    base: ControlDocument,
    hasLost: boolean,
  ): Extract<Standing, { kind: 'there' }> => {
    const { overlay } = base;
    const alive =
      overlay !== undefined && lease.isVoid(overlay.drill, sentAtMs) ? endOverlay(base, overlay.drill) : base;
    if (alive !== base) {
      const owed = descendant(alive, base, stamp());
      return { kind: 'there', expected, newest: owed, owed, hasLost };
    }
    return { kind: 'there', expected, newest: base, owed: hasLost ? base : undefined, hasLost };
  };

  /** Corrupt is never followed and never heard: the known document stays, and is owed to the store. */
  const corrupt = (tag: string, { why, detail }: DocumentFault): Standing => {
    if (lastFault !== detail) {
      observe({ kind: why === 'unsigned' ? 'control-unsigned' : 'control-corrupt', domain, detail });
    }
    lastFault = detail;
    return {
      kind: 'corrupt',
      detail,
      expected: tag,
      owed: why === 'version' || known.revision === 0 ? undefined : known,
    };
  };

  const faultIn = ({ decoded }: Stored): DocumentFault | undefined => {
    if (decoded.kind === 'fault') return decoded;
    const { document } = decoded;
    const nowMs = clock.wallMs();
    const step = stepFault(document, { known, nowMs, silentMs: clock.monotonicMs() - believedAtMs });
    if (step !== undefined) return { kind: 'fault', why: 'damaged', detail: step };
    if (tagOf(document) !== tagOf(known) || contentOf(document) === contentOf(known)) return undefined;
    return { kind: 'fault', why: 'damaged', detail: `tagged ${tagOf(known)} and with other content than that had` };
  };

  const compare = (read: Stored, renewals: number, sentAtMs: number): Standing => {
    const { tag, isWeak } = read;
    const fault = read.isChecked ? undefined : faultIn(read);
    const decoded = fault ?? read.decoded;
    stored = { ...read, decoded, isChecked: true };
    // What cannot be believed may have ended the drill: its renewals are no sign of life here.
    if (decoded.kind === 'fault') return corrupt(tag, decoded);
    const { document } = decoded;
    const lineage = lineageOf(known, document);
    const merged = lineage === 'diverged' ? merge(known, document, stamp()) : undefined;
    const checked = merged === undefined ? undefined : check(merged);
    // Nothing could be changed any more in a document joined with it.
    if (checked?.kind === 'fault') return corrupt(tag, checked);
    believe();
    lease.heard(renewals, sentAtMs);
    switch (lineage) {
      case 'same':
      case 'newer': {
        adopt(document, false);
        const standing = standingOf(sentAtMs, tag, known, false);
        return isWeak ? { ...standing, owed: standing.owed ?? known } : standing;
      }
      case 'older':
        return standingOf(sentAtMs, tag, known, known.revision > 0);
      case 'diverged':
        return standingOf(sentAtMs, tag, merged ?? known, true);
    }
  };

  const standingAfter = (read: ControlRead, sentAtMs: number): Standing => {
    switch (read.kind) {
      case 'fault':
        return { kind: 'away', detail: read.fault };
      case 'absent':
        stored = undefined;
        believe();
        lease.heard(undefined, sentAtMs);
        return standingOf(sentAtMs, undefined, known, known.revision > 0);
      case 'value': {
        readWholeAtMs = sentAtMs;
        return compare(opened(read), read.renewals, sentAtMs);
      }
      case 'unchanged':
        if (stored === undefined) return { kind: 'away', detail: 'unchanged' };
        return compare(stored, read.renewals, sentAtMs);
    }
  };

  const look = async (): Promise<Standing> => {
    const sentAtMs = clock.monotonicMs();
    const isDue = sentAtMs - readWholeAtMs >= READ_WHOLE_MS;
    return standingAfter(await store.read(domain, isDue ? undefined : stored?.tag, deadlineMs), sentAtMs);
  };

  const isThere = (next: ControlDocument): boolean => {
    if (stored?.decoded.kind !== 'document') return false;
    const { document } = stored.decoded;
    return stored.tag === tagOf(next) || document.line?.includes(tagOf(next)) === true;
  };

  /**
   * A swap whose reply was lost is told by reading again. While what it expected is still there it is sent once more: it
   * has the same tag, so whichever of the two comes second finds the other, and nothing is done twice.
   */
  const put = async (next: ControlDocument, expected: string | undefined, own: boolean): Promise<Put> => {
    // Nobody writes what nobody would read.
    if (check(next).kind === 'fault') return 'conflict';
    const value = sealed(next);
    const attempts = own ? MAX_ATTEMPTS : 1;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const swapped = await store.swap(domain, expected, value, deadlineMs);
      if (swapped.kind === 'swapped') {
        stored = { tag: value.tag, decoded: { kind: 'document', document: next }, isWeak: false, isChecked: true };
        adopt(next, own);
        return 'done';
      }
      if (swapped.kind === 'conflict' && attempt === 0) return 'conflict';
      const read = await store.read(domain, undefined, deadlineMs);
      if (read.kind === 'fault') {
        if (attempt + 1 < attempts) await pause(RECONNECT_MS * (attempt + 1));
        continue;
      }
      stored = read.kind === 'value' ? opened(read) : undefined;
      if (isThere(next)) {
        adopt(next, own);
        return 'done';
      }
      if (stored?.tag !== expected) return 'conflict';
    }
    return 'unknown';
  };

  return { known: () => known, look, put };
}

/** However wrong a clock is, it uses up no more than all but so many. */
const SPARE_GENERATIONS = 1 << 24;

/**
 * What the first change of a domain builds on. When a document is lost with every process that knew it (or is kept
 * elsewhere from now on) a new line begins, while the store still holds entries that the lost one has numbered: counted
 * from 1, a flush would be below them. So a line begins at the seconds since 2020. It is above every line that began
 * earlier and has taken fewer than one generation a second since, on average; a burst in a line's first seconds is above
 * one that begins in those same seconds. It fits 32 bits until 2156.
 *
 * No other number comes from a clock. One that is wrong here costs something only if this line then begins below where a
 * lost one got to: a clock behind by more than the age of the lost line, or the lost one's ahead by more than that. An entry
 * of the lost line between the two is refused by what is flushed until this line has reached its generation; from then on
 * it passes what was flushed before, until it lapses.
 */
export function beginLine(document: ControlDocument, wallMs: number): ControlDocument {
  if (document.revision > 0) return document;
  const generation = Math.max(
    document.generation,
    Math.min(secondsSince2020(wallMs), MAX_GENERATION - SPARE_GENERATIONS),
  );
  return { ...document, generation };
}
