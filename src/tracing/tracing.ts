import type { Settings } from '../config/settings.ts';
import type { Runtime } from '../runtime.ts';
import type { Tracer } from '../search/trace.ts';

/** Spans reached the collector, or were lost. */
export interface TracingEvent {
  readonly kind: 'tracing';
  readonly outcome: 'exported' | 'dropped';
  readonly spans: number;
  /** The reason of a loss, without an address, a header or a text of the collector. */
  readonly detail?: string;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends the spans that have ended, within 2 s. Spans that end later are lost. */
  readonly close: () => Promise<void>;
}

/** The settings that tracing reads. */
export interface TracedSettings extends Pick<Settings, 'tracing'> {
  readonly public: Pick<Settings['public'], 'trustedProxies'>;
}

export interface TracingOptions extends Runtime<TracingEvent> {
  readonly version: string;
}
