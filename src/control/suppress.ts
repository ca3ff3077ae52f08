import { type ControlDocument, MAX_SUPPRESSED } from './document.ts';
import { nextGeneration } from './next-generation.ts';
import { OperationRefused } from './refusal.ts';

/**
 * Documents that must not be seen. Cached pages that hold one are misses, unless they are computed from now on, by
 * processes that know of it and leave it out. @throws OperationRefused control-full
 */
export function suppress(document: ControlDocument, ids: readonly string[], atMs: number): ControlDocument {
  if (ids.length === 0) return document;
  const named = new Set(ids);
  const others = document.suppressed.filter(({ id }) => !named.has(id));
  if (others.length + named.size > MAX_SUPPRESSED) {
    throw new OperationRefused(
      'control-full',
      `${others.length} other documents are suppressed, ${named.size} more would be over the bound of ${MAX_SUPPRESSED}; lift some that the index no longer holds`,
    );
  }
  const generation = nextGeneration(document);
  const added = [...named].map((id) => ({ id, generation, atMs }));
  return { ...document, generation, suppressed: [...others, ...added] };
}

/** They may be seen again. Pages that left them out stay as they are until they lapse. */
export function lift(document: ControlDocument, ids: readonly string[]): ControlDocument {
  const named = new Set(ids);
  const suppressed = document.suppressed.filter(({ id }) => !named.has(id));
  return suppressed.length === document.suppressed.length ? document : { ...document, suppressed };
}
