import { type ControlDocument, MAX_GENERATION } from './document.ts';
import { OperationRefused } from './refusal.ts';

/** The generation a change takes: the first that no entry has. @throws OperationRefused control-full */
export function nextGeneration({ generation }: ControlDocument): number {
  if (generation < MAX_GENERATION) return generation + 1;
  throw new OperationRefused('control-full', `all ${MAX_GENERATION} generations of the domain are used up`);
}
