import { bindingOf } from './binding.ts';
import type { Judged } from './judged.ts';
import type { RunRecord } from './record.ts';
import { recoveriesOf } from './recovery.ts';
import { resourcesOf } from './resources.ts';
import { stepFigures } from './step-figures.ts';

/** What the figures of a run mean. The verdict was given when it ended, and is not given again. */
export function judge(record: RunRecord): Judged {
  const steps = stepFigures(record);
  const resources = resourcesOf(record, steps);
  return {
    verdict: record.verdict,
    steps,
    resources: resources.uses,
    binding: bindingOf(resources, record.samples),
    recoveries: recoveriesOf(record),
  };
}
