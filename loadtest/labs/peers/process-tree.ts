import { readFileSync } from 'node:fs';

/** A process and everything it started that still runs, parents first. Empty when it has ended. Only where there is /proc. */
export function processTree(pid: number): readonly number[] {
  const text = childrenOf(pid);
  if (text === undefined) return [];
  const children = text.split(' ').map(Number).filter(Boolean);
  return [pid, ...children.flatMap((child) => processTree(child))];
}

/** Of the main thread: what is measured here forks from no other. */
function childrenOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  } catch {
    return undefined;
  }
}
