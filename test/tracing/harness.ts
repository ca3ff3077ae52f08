import { seededRandom } from '../../loadtest/random.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { TracingSettings } from '../../src/config/tracing.ts';
import type { TracingEvent } from '../../src/tracing/delivery.ts';
import type { Tracing } from '../../src/tracing/otel.ts';
import { createTracing } from '../../src/tracing/tracing.ts';

const START_MS = Date.UTC(2026, 0, 1);

function clearVariables(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
}

/** The settings that the variables make. Until tracing is opened they stand in the environment too, where the packages of OpenTelemetry read them. */
export function settingsOf(env: Readonly<Record<string, string>>, trustParents = 'none'): TracingSettings {
  clearVariables();
  Object.assign(process.env, env);
  const { tracing } = loadSettings({ env, cwd: '/srv' });
  if (tracing === undefined) throw new Error('tracing is off');
  return { ...tracing, trustParents: trustParents as TracingSettings['trustParents'] };
}

/** Tracing with a clock that the test moves. */
export async function openTracing(settings: TracingSettings, seed = 1) {
  const events: TracingEvent[] = [];
  let nowMs = 1000;
  const traced = { tracing: settings, public: { trustedProxies: ['10.0.0.0/8', 'fd00::1'] } };
  const tracing = (await createTracing(traced, {
    clock: { wallMs: () => START_MS + nowMs, monotonicMs: () => nowMs },
    random: seededRandom(seed),
    version: '1.2.3',
    processId: 'process1',
    observe: (event) => events.push(event),
  })) as Tracing;
  clearVariables();
  return {
    ...tracing,
    events,
    startNs: BigInt(START_MS + nowMs) * 1_000_000n,
    passMs: (ms: number): void => {
      nowMs += ms;
    },
    count: (outcome: TracingEvent['outcome']): number =>
      events.filter((event) => event.outcome === outcome).reduce((sum, { spans }) => sum + spans, 0),
  };
}
