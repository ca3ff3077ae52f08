import type { Clock } from '../clock.ts';
import { endOverlay } from './change-overlay.ts';
import type { ControlEvent } from './control.ts';
import type { ControlRead, ControlStore } from './control-store.ts';
import { type ControlDocument, emptyDocument } from './document.ts';
import { type DecodedDocument, decodeDocument, encodeDocument, tagOf } from './document-codec.ts';
import { descendant, lineageOf } from './lineage.ts';
import { merge } from './merge.ts';
import type { OverlayLease } from './overlay-lease.ts';
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
  | { readonly kind: 'away' | 'corrupt'; readonly detail: string }
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
  readonly clock: Pick<Clock, 'monotonicMs'>;
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

interface Stored {
  readonly tag: string;
  readonly decoded: DecodedDocument;
}

export function createFollower(options: FollowerOptions): Follower {
  const { domain, store, clock, lease, stamp, deadlineMs, onAdopted, observe } = options;
  let known: ControlDocument = emptyDocument;
  let stored: Stored | undefined;

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
  ): Standing => {
    const { overlay } = base;
    const alive =
      overlay !== undefined && lease.isVoid(overlay.drill, sentAtMs) ? endOverlay(base, overlay.drill) : base;
    if (alive !== base) {
      const owed = descendant(alive, base, stamp());
      return { kind: 'there', expected, newest: owed, owed, hasLost };
    }
    return { kind: 'there', expected, newest: base, owed: hasLost ? base : undefined, hasLost };
  };

  const compare = ({ tag, decoded }: Stored, renewals: number, sentAtMs: number): Standing => {
    // What cannot be read may have ended the drill: its renewals are no sign of life here.
    if (decoded.kind === 'fault') return { kind: 'corrupt', detail: decoded.detail };
    lease.heard(renewals, sentAtMs);
    const { document } = decoded;
    const lineage = lineageOf(known, document);
    switch (lineage) {
      case 'same':
      case 'newer':
        adopt(document, false);
        return standingOf(sentAtMs, tag, known, false);
      case 'older':
        return standingOf(sentAtMs, tag, known, known.revision > 0);
      case 'diverged':
        return standingOf(sentAtMs, tag, merge(known, document, stamp()), true);
    }
  };

  const standingAfter = (read: ControlRead, sentAtMs: number): Standing => {
    switch (read.kind) {
      case 'fault':
        return { kind: 'away', detail: read.fault };
      case 'absent':
        stored = undefined;
        lease.heard(undefined, sentAtMs);
        return standingOf(sentAtMs, undefined, known, known.revision > 0);
      case 'value': {
        const { tag, value } = read;
        stored = { tag, decoded: decodeDocument({ tag, value }) };
        const { decoded } = stored;
        if (decoded.kind === 'fault') observe({ kind: 'control-corrupt', domain, detail: decoded.detail });
        return compare(stored, read.renewals, sentAtMs);
      }
      case 'unchanged':
        if (stored === undefined) return { kind: 'away', detail: 'unchanged' };
        return compare(stored, read.renewals, sentAtMs);
    }
  };

  const look = async (): Promise<Standing> => {
    const sentAtMs = clock.monotonicMs();
    return standingAfter(await store.read(domain, stored?.tag, deadlineMs), sentAtMs);
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
    const value = encodeDocument(next);
    const attempts = own ? MAX_ATTEMPTS : 1;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const swapped = await store.swap(domain, expected, value, deadlineMs);
      if (swapped.kind === 'swapped') {
        stored = { tag: value.tag, decoded: { kind: 'document', document: next } };
        adopt(next, own);
        return 'done';
      }
      if (swapped.kind === 'conflict' && attempt === 0) return 'conflict';
      const read = await store.read(domain, undefined, deadlineMs);
      if (read.kind === 'fault') {
        if (attempt + 1 < attempts) await pause(RECONNECT_MS * (attempt + 1));
        continue;
      }
      stored = read.kind === 'value' ? { tag: read.tag, decoded: decodeDocument(read) } : undefined;
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
