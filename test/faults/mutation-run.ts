import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { LIMIT_MS } from '../until.ts';

/** Damaged answers of one protocol, sent to the adapter that reads it. */
export interface Mutations {
  /** The damaged answers; also the option that gives their count: `--replies 2000`. */
  readonly name: string;
  readonly about: string;
  /** Damages `count` valid answers. The same seed damages the same places. */
  readonly run: (seed: number, count: number) => Promise<MutationsResult>;
  /** Sends these bytes, each in the place of every kind of answer. */
  readonly replay: (inputs: readonly Buffer[]) => Promise<MutationsResult>;
}

export interface MutationsResult {
  readonly sent: number;
  /** Each names an answer that ended, hung or blocked the process, or gave a wrong page. */
  readonly findings: readonly string[];
}

/** Maximum number of damaged answers of one run. */
export const MAX_COUNT = 1_000_000;

/** A damaged answer and how it is sent to the adapter, which runs in a process of its own: the subject. */
interface MutationRun<Case, Task extends Numbered, Report extends Numbered> {
  readonly cases: readonly Case[];
  /** The module of the subject: it gets a task and answers with the report of the same id. */
  readonly subject: string;
  /**
   * Starts the server of a case, lets the subject use it, and says what went wrong. `ask` gives the subject's report, or a
   * text when its process ended or fell silent.
   */
  readonly send: (each: Case, ask: (task: Task) => Promise<Report | string>) => Promise<string | undefined>;
}

interface Numbered {
  readonly id: number;
}

/** Cases under way at the same time. */
const LANES = 16;
/** Without a report for this time the subject hangs, or never serves again. */
const SILENCE_MS = LIMIT_MS;

export async function runMutations<Case, Task extends Numbered, Report extends Numbered>(
  run: MutationRun<Case, Task, Report>,
): Promise<MutationsResult> {
  const { sent, failed } = await runTogether(run);
  if (failed.length <= 1) return { sent, findings: failed.map(({ finding }) => finding) };
  // When the process ends, all that were under way fail with it: each is sent again to a process of its own.
  const alone: Failed<Case>[] = [];
  for (const { each } of failed) alone.push(...(await runTogether({ ...run, cases: [each] })).failed);
  return { sent, findings: (alone.length > 0 ? alone : failed).map(({ finding }) => finding) };
}

interface Failed<Case> {
  readonly each: Case;
  readonly finding: string;
}

/** Ends early when the process ends or hangs. */
async function runTogether<Case, Task extends Numbered, Report extends Numbered>({
  cases,
  subject,
  send,
}: MutationRun<Case, Task, Report>): Promise<{ sent: number; failed: readonly Failed<Case>[] }> {
  const failed: Failed<Case>[] = [];
  const rest = [...cases];
  let sent = 0;
  const { ask, stop } = await startSubject<Task, Report>(subject);
  const lane = async (): Promise<void> => {
    for (let each = rest.shift(); each !== undefined && failed.length === 0; each = rest.shift()) {
      sent += 1;
      const finding = await send(each, ask);
      if (finding !== undefined) failed.push({ each, finding });
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(LANES, cases.length) }, lane));
  } finally {
    await stop();
  }
  return { sent, failed };
}

async function startSubject<Task extends Numbered, Report extends Numbered>(module: string) {
  const child: ChildProcess = fork(module, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const waiting = new Map<number, (outcome: Report | string) => void>();
  let complaint = '';
  let ended: string | undefined;
  child.stderr?.on('data', (text: Buffer) => {
    complaint = `${complaint}${text}`.slice(-2000);
  });
  const end = (finding: string): void => {
    ended ??= finding;
    for (const settle of waiting.values()) settle(ended);
    waiting.clear();
  };
  let silence: NodeJS.Timeout | undefined;
  const heard = (): void => {
    clearTimeout(silence);
    if (waiting.size > 0) silence = setTimeout(() => end(`no report for ${SILENCE_MS} ms`), SILENCE_MS);
  };
  child.on('message', (report: Report) => {
    const settle = waiting.get(report.id);
    waiting.delete(report.id);
    settle?.(report);
    heard();
  });
  child.on('close', (code, signal) => end(`the process ended (${signal ?? code}): ${complaint}`));
  await once(child, 'spawn');
  return {
    ask: (task: Task): Promise<Report | string> =>
      new Promise((resolve) => {
        if (ended !== undefined) return resolve(ended);
        waiting.set(task.id, resolve);
        child.send(task);
        if (waiting.size === 1) heard();
      }),
    stop: async (): Promise<void> => {
      clearTimeout(silence);
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
