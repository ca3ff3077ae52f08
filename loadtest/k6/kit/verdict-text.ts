import type { ScriptSummary, StepSummary } from './summary.ts';

/** What a run says of itself where nobody draws its report: k6 started by hand. */
export function runWords({ script, verdict, steps, generator }: ScriptSummary): string {
  const lines = [
    '',
    `${script}: ${verdict.kind.toUpperCase()}. ${verdict.detail}`,
    ...(verdict.kind === 'invalid' ? verdict.reasons.map((reason) => `  - ${reason}`) : []),
    ...steps.map(stepLine),
    `generator: ${generator.requests} requests, ${generator.dropped} dropped, ${generator.vusUsed} of ${generator.vusCap} virtual users`,
    '',
  ];
  return lines.join('\n');
}

function stepLine(summary: StepSummary): string {
  const { step, result, broken, searches, seconds, latencyMs, errorRate, hitRatio, connectionsOpened } = summary;
  if (searches === 0) return `  ${step.name}: ${result}`;
  const figures = [
    `${(searches / Math.max(seconds, 1)).toFixed(0)} searches/s`,
    latencyMs === undefined ? '' : `p50 ${latencyMs.p50.toFixed(1)} ms, p99 ${latencyMs.p99.toFixed(1)} ms`,
    `errors ${((errorRate ?? 0) * 100).toFixed(2)} %`,
    `hits ${((hitRatio ?? 0) * 100).toFixed(1)} %`,
    connectionsOpened === undefined ? '' : `${connectionsOpened} connections opened`,
  ];
  const why = broken.length > 0 ? ` (${broken.join('; ')})` : '';
  return `  ${step.name}: ${result}${why}: ${figures.filter(Boolean).join(', ')}`;
}
