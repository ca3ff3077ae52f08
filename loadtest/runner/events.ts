import { open } from 'node:fs/promises';
import type { RunEvent } from '../judge/record.ts';
import { EVENT_MARK } from '../k6/kit/event.ts';

/** A script that says something with every request has gone wrong. */
const MOST = 5000;

/** In the order of time. The log is read line by line: of a run that goes wrong it may be large. */
export async function eventsIn(logFile: string): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  const file = await open(logFile).catch(() => undefined);
  if (file === undefined) return [];
  for await (const line of file.readLines()) {
    const event = eventIn(line);
    if (event !== undefined && events.push(event) >= MOST) break;
  }
  return events.toSorted((one, other) => one.atMs - other.atMs);
}

/** Undefined of every other line, and of one that was cut off. */
export function eventIn(line: string): RunEvent | undefined {
  if (!line.startsWith(EVENT_MARK)) return undefined;
  try {
    const { atMs, kind, text, drill } = JSON.parse(line.slice(EVENT_MARK.length)) as Readonly<Record<string, unknown>>;
    if (typeof atMs !== 'number' || typeof kind !== 'string' || typeof text !== 'string') return undefined;
    return { atMs, kind, text, ...(typeof drill === 'string' ? { drill } : {}) };
  } catch {
    return undefined;
  }
}
