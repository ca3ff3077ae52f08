import type { Settings } from '../config/settings.ts';
import type { TracingOptions } from './otel.ts';

/** The settings that tracing reads. */
interface TracedSettings extends Pick<Settings, 'tracing'> {
  readonly public: Pick<Settings['public'], 'trustedProxies'>;
}

/** @returns undefined while tracing is off: `otel.ts` and the SDK are then never loaded. */
export async function createTracing(settings: TracedSettings, options: TracingOptions) {
  if (settings.tracing === undefined) return undefined;
  const { openTracing } = await import('./otel.ts');
  return openTracing(settings.tracing, settings.public.trustedProxies, options);
}
