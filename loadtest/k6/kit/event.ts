/** What happened beside the load, for whoever reads the log: the runner, or a person. `drill`: its id. */
export interface LoadEvent {
  readonly kind: 'drill-started' | 'drill-stage' | 'drill-ended' | 'flush' | 'note';
  readonly text: string;
  readonly drill?: string;
  /** Wall clock; absent: now. */
  readonly atMs?: number;
}

/** k6 has one, its types have not. */
declare const console: { readonly log: (text: string) => void };

/** A line that begins so is a `LoadEvent` with its time, as JSON. */
export const EVENT_MARK = 'serpcache-event ';

export function say(event: LoadEvent): void {
  console.log(`${EVENT_MARK}${JSON.stringify({ atMs: Date.now(), ...event })}`);
}
