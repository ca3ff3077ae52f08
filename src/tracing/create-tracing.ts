import type { TracedSettings, Tracing, TracingOptions } from './tracing.ts';

/** @returns undefined while tracing is off: the SDK is then never loaded. */
export async function createTracing(settings: TracedSettings, options: TracingOptions): Promise<Tracing | undefined> {
  if (settings.tracing === undefined) return undefined;
  const { openTracing } = await import('./otel.ts');
  return openTracing(settings.tracing, settings.public.trustedProxies, options);
}
