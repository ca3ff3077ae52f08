import { MAX_SUPPRESSED } from '../control/document.ts';
import { OperationRefused } from '../control/refusal.ts';
import type { FlushAsk } from './flush.ts';

const MAX_ID_CHARACTERS = 128;
const MAX_VERSION_CHARACTERS = 128;

/** @throws OperationRefused invalid-request */
export function checkIds(ids: readonly string[]): void {
  const distinct = new Set(ids);
  if (distinct.size < 1 || distinct.size > MAX_SUPPRESSED) {
    throw invalid(`ids names 1 to ${MAX_SUPPRESSED} documents; ${distinct.size} are named`, 'ids');
  }
  const wrong = [...distinct].find((id) => id.length < 1 || id.length > MAX_ID_CHARACTERS || !id.isWellFormed());
  if (wrong !== undefined) {
    throw invalid(`an id has 1 to ${MAX_ID_CHARACTERS} characters; one of them has ${wrong.length}`, 'ids');
  }
}

/** @throws OperationRefused invalid-request */
export function checkText(text: string): void {
  if (text.trim() === '') throw invalid('a purge names the text of a query; it is empty', 'q');
}

/** @throws OperationRefused invalid-request */
export function checkIndexVersion({ mode, indexVersion }: FlushAsk): void {
  if (indexVersion === undefined) return;
  if (mode !== 'refresh') throw invalid(`indexVersion goes with refresh, not with ${mode}`, 'indexVersion');
  if (indexVersion.length < 1 || indexVersion.length > MAX_VERSION_CHARACTERS || !indexVersion.isWellFormed()) {
    throw invalid(`indexVersion has 1 to ${MAX_VERSION_CHARACTERS} characters`, 'indexVersion');
  }
}

function invalid(words: string, parameter: string): OperationRefused {
  return new OperationRefused('invalid-request', words, parameter);
}
