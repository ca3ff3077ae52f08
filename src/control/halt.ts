import type { ControlDocument, Halt } from './document.ts';

/** No drill runs from now on, and none may begin. */
export function halt(document: ControlDocument, halted: Halt): ControlDocument {
  const { overlay: _ended, ...rest } = document;
  return { ...rest, halted };
}

/** Drills may begin again. */
export function liftHalt(document: ControlDocument): ControlDocument {
  const { halted, ...rest } = document;
  return halted === undefined ? document : rest;
}
