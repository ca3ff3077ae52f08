/** An event of a run apart from the load, for the reader of the log: the runner, or a person. */
interface LoadEvent {
  readonly kind: 'drill-started' | 'drill-stage' | 'drill-ended' | 'flush' | 'note';
  readonly text: string;
  readonly drill?: string;
  /** Wall clock; absent: now. */
  readonly atMs?: number;
}

/** k6 has it, its type declarations do not. */
declare const console: { readonly log: (text: string) => void };

/** The start of a log line that contains a `LoadEvent` with its time, as JSON. */
export const EVENT_MARK = 'serpcache-event ';

export function say(event: LoadEvent): void {
  console.log(`${EVENT_MARK}${JSON.stringify({ atMs: Date.now(), ...event })}`);
}
