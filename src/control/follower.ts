import type { ControlStanding } from '../cache/invalidation.ts';
import { type Signing, seal, unseal } from '../cache/signing.ts';
import { type Clock, pause } from '../runtime.ts';
import type { ControlEvent } from './control.ts';
import type { ControlRead, ControlStore, ControlValue } from './control-store.ts';
import { type ControlDocument, emptyDocument, tagOf } from './document.ts';
import {
  type DecodedDocument,
  type DocumentFault,
  decodeDocument,
  encodeDocument,
  stepFault,
} from './document-codec.ts';
import { compareHistories, descendant, merge } from './merge.ts';
import { endOverlay, type OverlayLease } from './overlay.ts';

export type Follower = ReturnType<typeof createFollower>;

type SwapResult = 'done' | 'conflict' | 'unknown';

export type StoreView =
  | { readonly kind: 'away'; readonly detail: string }
  | {
      readonly kind: 'corrupt';
      readonly detail: string;
      /** The tag of the corrupt document. */
      readonly expected: string;
      /** The known document, to be written over it. Undefined: none is known, or another version wrote the stored one. */
      readonly writeBack: ControlDocument | undefined;
    }
  | {
      readonly kind: 'valid';
      /** The tag in the store; undefined: no document is stored. */
      readonly expected: string | undefined;
      /** The newest document, from this process and the store together, without an expired drill. */
      readonly newest: ControlDocument;
      /** The document to be stored, when the store holds another one. */
      readonly writeBack: ControlDocument | undefined;
      /** The store lacks changes that this process knows. */
      readonly isBehind: boolean;
    };

interface FollowerOptions {
  readonly domain: string;
  readonly store: ControlStore;
  readonly clock: Clock;
  /** With keys, documents are signed; with `required`, an unsigned one is corrupt. */
  readonly signing?: Signing | undefined;
  readonly lease: OverlayLease;
  readonly stamp: () => string;
  readonly deadlineMs: number;
  readonly onAdopted: () => void;
  readonly observe: (event: ControlEvent) => void;
}

/** Maximum number of attempts of an operator's change. A write-back is tried once; the next poll tries again. */
const MAX_SWAP_ATTEMPTS = 4;
/** A connection that was lost during a swap is mostly back after this time. */
const RECONNECT_MS = 50;
/** The first connection takes a moment; a store that does not answer within it is not reported as away. */
const CONNECTING_MS = 2000;
/** Interval of reads of the whole value, which find a value that was changed under its old tag. */
const READ_WHOLE_MS = 10_000;

interface Stored {
  readonly tag: string;
  readonly decoded: DecodedDocument;
  /** Not signed with the current key. */
  readonly isWeak: boolean;
  /** Compared to the known document. */
  readonly isChecked: boolean;
}

/** Follows the stored document: the document in force in this process, and how it compares to the stored one. */
export function createFollower(options: FollowerOptions) {
  const { domain, store, clock, signing, lease, stamp, deadlineMs, onAdopted, observe } = options;
  const startedAtMs = clock.monotonicMs();
  let known: ControlDocument = emptyDocument;
  let stored: Stored | undefined;
  let hasSynced = false;
  let standing: ControlStanding = 'unheard';
  let validReadAtMs = startedAtMs;
  let wholeReadAtMs = Number.NEGATIVE_INFINITY;
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
  /** Decodes a document that was made here, as every other process would. */
  const check = (document: ControlDocument): DecodedDocument =>
    decodeDocument(encodeDocument(document), clock.wallMs());
  /** Without times: each process clamps times in the far future to another value. */
  const contentOf = (document: ControlDocument): string =>
    JSON.stringify(check(document), (name, value: unknown) => (name === 'atMs' || name === 'untilMs' ? 0 : value));

  const noteValidRead = (): void => {
    validReadAtMs = clock.monotonicMs();
    lastFault = undefined;
    hasSynced = true;
  };

  const adopt = (document: ControlDocument, own: boolean): void => {
    if (tagOf(document) === tagOf(known)) return;
    known = document;
    lease.track(document.overlay);
    onAdopted();
    observe({ kind: 'control-changed', domain, revision: document.revision, own });
  };

  const validView = (
    sentAtMs: number,
    expected: string | undefined,
    base: ControlDocument,
    isBehind: boolean,
  ): Extract<StoreView, { kind: 'valid' }> => {
    const { overlay } = base;
    if (overlay !== undefined && lease.hasExpired(overlay.drill, sentAtMs)) {
      const ended = descendant(endOverlay(base, overlay.drill), base, stamp());
      return { kind: 'valid', expected, newest: ended, writeBack: ended, isBehind };
    }
    return { kind: 'valid', expected, newest: base, writeBack: isBehind ? base : undefined, isBehind };
  };

  /** A corrupt document is never adopted and does not count as read: the known one stays, and is to be written back. */
  const corruptView = (tag: string, { why, detail }: DocumentFault): StoreView => {
    if (lastFault !== detail) {
      observe({ kind: why === 'unsigned' ? 'control-unsigned' : 'control-corrupt', domain, detail });
    }
    lastFault = detail;
    const writeBack = why === 'version' || known.revision === 0 ? undefined : known;
    return { kind: 'corrupt', detail, expected: tag, writeBack };
  };

  const faultIn = ({ decoded }: Stored): DocumentFault | undefined => {
    if (decoded.kind === 'fault') return decoded;
    const { document } = decoded;
    const nowMs = clock.wallMs();
    const step = stepFault(document, { known, nowMs, silentMs: clock.monotonicMs() - validReadAtMs });
    if (step !== undefined) return { kind: 'fault', why: 'damaged', detail: step };
    if (tagOf(document) !== tagOf(known) || contentOf(document) === contentOf(known)) return undefined;
    return { kind: 'fault', why: 'damaged', detail: `tagged ${tagOf(known)} and with other content than that had` };
  };

  const compare = (read: Stored, renewals: number, sentAtMs: number): StoreView => {
    const { tag, isWeak } = read;
    const fault = read.isChecked ? undefined : faultIn(read);
    const decoded = fault ?? read.decoded;
    stored = { ...read, decoded, isChecked: true };
    // A document that cannot be read may have ended the drill, so its renewals do not extend the lease.
    if (decoded.kind === 'fault') return corruptView(tag, decoded);
    const { document } = decoded;
    const order = compareHistories(known, document);
    const merged = order === 'diverged' ? merge(known, document, stamp()) : undefined;
    const checked = merged === undefined ? undefined : check(merged);
    // A merge beyond the bounds could never be changed again.
    if (checked?.kind === 'fault') return corruptView(tag, checked);
    noteValidRead();
    lease.noteRenewals(renewals, sentAtMs);
    switch (order) {
      case 'same':
      case 'newer': {
        adopt(document, false);
        const view = validView(sentAtMs, tag, known, false);
        return isWeak ? { ...view, writeBack: view.writeBack ?? known } : view;
      }
      case 'older':
        return validView(sentAtMs, tag, known, known.revision > 0);
      case 'diverged':
        return validView(sentAtMs, tag, merged ?? known, true);
    }
  };

  const viewOf = (read: ControlRead, sentAtMs: number): StoreView => {
    switch (read.kind) {
      case 'fault':
        return { kind: 'away', detail: read.fault };
      case 'absent':
        stored = undefined;
        noteValidRead();
        lease.noteRenewals(undefined, sentAtMs);
        return validView(sentAtMs, undefined, known, known.revision > 0);
      case 'value':
        wholeReadAtMs = sentAtMs;
        return compare(opened(read), read.renewals, sentAtMs);
      case 'unchanged':
        if (stored === undefined) return { kind: 'away', detail: 'unchanged' };
        return compare(stored, read.renewals, sentAtMs);
    }
  };

  const noteStanding = (view: StoreView): void => {
    if (view.kind !== 'away') {
      if (standing === 'away') observe({ kind: 'control-back', domain });
      standing = view.kind === 'corrupt' ? 'corrupt' : 'ok';
      return;
    }
    const isConnecting = !hasSynced && clock.monotonicMs() - startedAtMs < CONNECTING_MS;
    if (standing === 'away' || isConnecting) return;
    standing = 'away';
    observe({ kind: 'control-away', domain, fault: view.detail });
  };

  /** Reads the store, adopts a newer document and compares the two. */
  const read = async (): Promise<StoreView> => {
    const sentAtMs = clock.monotonicMs();
    const isWholeDue = sentAtMs - wholeReadAtMs >= READ_WHOLE_MS;
    const view = viewOf(await store.read(domain, isWholeDue ? undefined : stored?.tag, deadlineMs), sentAtMs);
    noteStanding(view);
    return view;
  };

  const isStored = (next: ControlDocument): boolean => {
    if (stored?.decoded.kind !== 'document') return false;
    const { document } = stored.decoded;
    return stored.tag === tagOf(next) || document.line?.includes(tagOf(next)) === true;
  };

  /**
   * Stores `next` in the place of the document tagged `expected`, and adopts it. `unknown`: it may be stored, now or later.
   * When the reply of a swap is lost, the document is read again. While the expected one is still stored the swap is sent
   * once more: it has the same tag, so the second of the two finds the first, and the change is made once.
   */
  const swap = async (next: ControlDocument, expected: string | undefined, own: boolean): Promise<SwapResult> => {
    // A document that other processes would refuse is not written.
    if (check(next).kind === 'fault') return 'conflict';
    const value = sealed(next);
    const attempts = own ? MAX_SWAP_ATTEMPTS : 1;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const swapped = await store.swap(domain, expected, value, deadlineMs);
      if (swapped.kind === 'swapped') {
        stored = { tag: value.tag, decoded: { kind: 'document', document: next }, isWeak: false, isChecked: true };
        adopt(next, own);
        return 'done';
      }
      if (swapped.kind === 'conflict' && attempt === 0) return 'conflict';
      const found = await store.read(domain, undefined, deadlineMs);
      if (found.kind === 'fault') {
        if (attempt + 1 < attempts) await pause(RECONNECT_MS * (attempt + 1));
        continue;
      }
      stored = found.kind === 'value' ? opened(found) : undefined;
      if (isStored(next)) {
        adopt(next, own);
        return 'done';
      }
      if (stored?.tag !== expected) return 'conflict';
    }
    return 'unknown';
  };

  return {
    /** The document in force. */
    known: () => known,
    /** The store has answered once, with a valid document or with none. Until then flushes and suppressions are unknown. */
    hasSynced: () => hasSynced,
    standing: () => standing,
    /** Time since the store last answered with a valid document or with none. */
    readMsAgo: () => clock.monotonicMs() - validReadAtMs,
    read,
    swap,
  };
}
