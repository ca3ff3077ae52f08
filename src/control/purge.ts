import { type ControlDocument, MAX_PURGES } from './document.ts';
import { nextGeneration } from './next-generation.ts';
import { OperationRefused } from './refusal.ts';

/** Every page of one canonical text that was computed before is a miss. @throws OperationRefused control-full */
export function purge(document: ControlDocument, text: string, atMs: number): ControlDocument {
  const generation = nextGeneration(document);
  const others = document.purges.filter((one) => one.text !== text);
  if (others.length >= MAX_PURGES) {
    throw new OperationRefused(
      'control-full',
      `${MAX_PURGES} purges are remembered, which is the most; a flush of the whole domain makes them needless; otherwise each is forgotten when every entry it names has lapsed, by the longest lifetimes that were in force`,
    );
  }
  return { ...document, generation, purges: [...others, { text, generation, atMs }] };
}
