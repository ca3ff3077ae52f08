import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunRecord } from '../judge/record.ts';
import { earlierRun } from '../labs/kit/keep.ts';
import { CannotRun } from '../labs/kit/programs.ts';
import { pinsHere } from '../stack/processors.ts';
import type { RunOptions } from './arguments.ts';
import { k6Program } from './k6-program.ts';
import { type Loaded, sendLoad } from './load.ts';
import { planLocalStack, startLocalStack } from './local-stack.ts';
import { goOn, type RunContext } from './run-context.ts';
import { SCRIPTS } from './scripts.ts';

export interface Ran extends Loaded {
  /** What it is compared with. */
  readonly against?: RunRecord;
}

/**
 * One run, from finding k6 to the stack that is taken down again, whatever happens.
 * @throws CannotRun when no load was sent, or when k6 itself failed; any other Error of what was started.
 */
export async function run(options: RunOptions, context: RunContext): Promise<Ran> {
  const { script, queries } = options;
  const { say } = context;
  const entry = SCRIPTS[script];
  const file = join(import.meta.dirname, '..', 'k6', `${script}.ts`);
  if (entry === undefined || !(await isThere(file))) throw new CannotRun(`there is no script loadtest/k6/${script}.ts`);
  if (queries !== undefined && !(await isThere(queries))) throw new CannotRun(`--queries: there is no file ${queries}`);
  const against = options.against === undefined ? {} : await compared(options.against, options, say);
  const program = await k6Program(options.k6, say);
  const wanted = { options, entry, file, program };
  goOn(context);
  if (options.stack === 'none') return { ...(await sendLoad(wanted, context)), ...against };

  const plan = planLocalStack({ replicas: options.replicas, env: entry.stackEnv });
  const found = options.pin ? await pinsHere(say) : undefined;
  const pins = found === undefined ? {} : { pins: found };
  const stack = await startLocalStack(plan, { ...pins, say });
  try {
    return { ...(await sendLoad({ ...wanted, stack, ...pins }, context)), ...against };
  } finally {
    if (options.keepStack) say('the stack stays: `npm run stack -- down` ends it');
    // Whatever is left, the run has happened: its results must not be lost for it.
    else await stack.stop().catch((error: unknown) => say(`the stack could not be taken down: ${error}`));
  }
}

async function compared(
  against: string,
  { out, script }: RunOptions,
  say: RunContext['say'],
): Promise<Pick<Ran, 'against'>> {
  const earlier = await earlierRun(against, out, script);
  if (earlier !== undefined) return { against: earlier };
  say(`no earlier run of ${script} to compare with`);
  return {};
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
