import type { ControlDocument, Placement, Shadow, StoreRef } from './document.ts';
import { OperationError } from './operation-error.ts';

/*
 * Changes of the shadow and of the placement of a domain. A cut-over is prepared, committed and settled; until it is settled
 * it can be reversed. A drill measures one store, so a drill and a cut-over exclude each other.
 */

/** Begins the copies to a candidate. @throws OperationError halted, shadow-running, cut-over-running */
export function beginShadow(document: ControlDocument, shadow: Shadow, nowMs: number): ControlDocument {
  const { shadow: running } = document;
  checkNotHalted(document);
  // A shadow that is over stays in the document until a process removes it.
  if (running !== undefined && nowMs < running.untilMs) {
    const { candidate, by } = running;
    throw new OperationError('shadow-running', `a shadow to ${candidate.name} runs in this domain, begun by ${by}`);
  }
  checkNoCutOver(document);
  return { ...document, shadow };
}

/** Changes the parts that are given. @throws OperationError no-shadow when the shadow of this id does not run */
export function changeShadow(
  document: ControlDocument,
  id: string,
  change: Partial<Pick<Shadow, 'fraction' | 'reads'>>,
): ControlDocument {
  const { shadow } = document;
  if (shadow?.id !== id) throw new OperationError('no-shadow', `shadow ${id} no longer runs in this domain`);
  const { fraction = shadow.fraction, reads = shadow.reads } = change;
  return { ...document, shadow: { ...shadow, fraction, reads } };
}

/** Ends the shadow, if it is still running. */
export function endShadow(document: ControlDocument, id: string): ControlDocument {
  const { shadow, ...rest } = document;
  return shadow?.id === id ? rest : document;
}

/** A cut-over between two stores, as it is asked for. */
interface CutOver {
  readonly id: string;
  /** The active store. */
  readonly from: StoreRef;
  readonly to: StoreRef;
  readonly by: string;
  readonly atMs: number;
}

/**
 * Prepares a cut-over: from now on both stores are written. A document without a placement does not name the active store,
 * so the caller names it. @throws OperationError halted, drill-running, cut-over-running, cut-over-behind
 */
export function prepareCutOver(document: ControlDocument, { id, from, to, by, atMs }: CutOver): ControlDocument {
  checkNotHalted(document);
  checkNoDrill(document);
  checkNoCutOver(document);
  const { placement: settled } = document;
  if (settled !== undefined && settled.active.fingerprint !== from.fingerprint) {
    throw new OperationError(
      'cut-over-behind',
      `${settled.active.name} holds the entries since the last cut-over, not ${from.name}: this process has not followed it`,
    );
  }
  const settledBefore = settled === undefined ? undefined : true;
  return { ...document, placement: { id, phase: 'prepared', active: from, other: to, by, atMs, settledBefore } };
}

/** Cancels the cut-over, if it is still prepared: the active store stays the only one. */
export function cancelPrepared(document: ControlDocument, id: string): ControlDocument {
  const { placement } = document;
  if (placement?.phase !== 'prepared' || placement.id !== id) return document;
  return withPlacement(document, withoutPreparation(placement));
}

/** The placement that is left when a prepared cut-over is cancelled. Any other placement stays. */
export function withoutPreparation(placement: Placement | undefined): Placement | undefined {
  if (placement?.phase !== 'prepared') return placement;
  return placement.settledBefore === true ? settledOn(placement) : undefined;
}

/**
 * Makes the other store the active one. The shadow ends: the candidate now has the traffic itself.
 * @throws OperationError no-cut-over, drill-running
 */
export function commitCutOver(document: ControlDocument, id: string, atMs: number): ControlDocument {
  const { placement } = document;
  if (placement?.id !== id || placement.phase !== 'prepared' || placement.other === undefined) {
    throw new OperationError('no-cut-over', `cut-over ${id} is not prepared any more: it was cancelled or committed`);
  }
  checkNoDrill(document);
  const { shadow: _ended, ...rest } = document;
  return { ...rest, placement: swapped(placement, placement.other, { id, by: placement.by, atMs }) };
}

/**
 * Makes the store before the cut-over the active one again. Both stores are read and written as before, so nothing has to be
 * prepared. @throws OperationError no-cut-over, drill-running
 */
export function reverseCutOver(
  document: ControlDocument,
  { id, by, atMs }: Pick<CutOver, 'id' | 'by' | 'atMs'>,
): ControlDocument {
  const { placement } = document;
  if (placement?.phase !== 'committed' || placement.other === undefined) {
    throw new OperationError('no-cut-over', 'no cut-over that can be reversed is in force in this domain');
  }
  if (placement.reversed === true) {
    throw new OperationError(
      'no-cut-over',
      `${placement.by} has returned to ${placement.active.name} already; stop the use of ${placement.other.name}, or begin a new shadow after that`,
    );
  }
  checkNoDrill(document);
  return withPlacement(document, {
    ...swapped(placement, placement.other, { id, by, atMs }),
    reversed: true,
  });
}

/** Ends the use of the store before the cut-over. @throws OperationError no-cut-over */
export function settle(document: ControlDocument, id: string): ControlDocument {
  const { placement } = document;
  if (placement?.id !== id || placement.phase === 'prepared') {
    throw new OperationError('no-cut-over', `cut-over ${id} is not in force in this domain`);
  }
  return placement.phase === 'settled' ? document : withPlacement(document, settledOn(placement));
}

/** Removes a settled placement, once every process is configured with its store. */
export function clearPlacement(document: ControlDocument): ControlDocument {
  return document.placement?.phase === 'settled' ? withPlacement(document, undefined) : document;
}

/** @throws OperationError cut-over-running while a cut-over is prepared or committed; a settled one is over */
export function checkNoCutOver({ placement }: ControlDocument): void {
  if (placement === undefined || placement.phase === 'settled') return;
  const { phase, active, other, by } = placement;
  throw new OperationError(
    'cut-over-running',
    `a cut-over by ${by} is ${phase} in this domain: it uses ${active.name} and ${other?.name ?? 'no other store'}`,
  );
}

/** @throws OperationError drill-running */
export function checkNoDrill({ overlay }: ControlDocument): void {
  if (overlay === undefined) return;
  throw new OperationError('drill-running', `drill ${overlay.drill} runs in this domain, owned by ${overlay.owner}`);
}

/** @throws OperationError halted, which names what cannot begin */
export function checkNotHalted({ halted }: ControlDocument, what = 'shadows and cut-overs'): void {
  if (halted === undefined) return;
  throw new OperationError('halted', `${what} are halted by ${halted.by}: ${halted.reason}`);
}

function swapped({ active }: Placement, other: StoreRef, change: Pick<Placement, 'id' | 'by' | 'atMs'>): Placement {
  return { ...change, phase: 'committed', active: other, other: active };
}

function settledOn({ id, active, by, atMs }: Placement): Placement {
  return { id, phase: 'settled', active, by, atMs };
}

function withPlacement(document: ControlDocument, placement: Placement | undefined): ControlDocument {
  const { placement: _before, ...rest } = document;
  return placement === undefined ? rest : { ...rest, placement };
}
