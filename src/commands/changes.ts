import { setTimeout as passed } from 'node:timers/promises';
import { fileBytes, fileLines, type Line } from '../catalogue/file.ts';
import type { Taken } from '../operations/feed/feed.ts';
import { countText, durationText, plural } from '../report/format.ts';
import { AdminProblem, AdminUnreachable, sleep } from './admin-client.ts';
import { UsageError } from './arguments.ts';
import { type Command, NotPassed } from './command.ts';
import { assertReadable, type OperatorContext, operatorCommand, resumeCommand } from './operator-command.ts';
import { createProgress } from './terminal.ts';

/** Limits of one call. */
const MAX_LINES = 1000;
const MAX_BYTES = 2 ** 20;
/** The service's own limit; a longer line is not sent. */
const MAX_LINE_BYTES = 2 * 2 ** 20;
/** Lines of a slow pipe are sent after this time. */
const SLOW_MS = 200;
/** Waits between the attempts of one call: a minute in all. */
const WAITS_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000];
const KEPT = ['admin', 'token-file', 'ca-file', 'config'];

/** Sends changes of documents to a running service, from a file or from standard input as long as it lasts. */
export const changesCommand: Command = operatorCommand({
  name: 'changes',
  usage: '<domain> [FILE[.gz|.zst]] [--from-line N]  (without FILE: standard input)',
  summary: 'tell the service which documents were added, changed or deleted: NDJSON, a change a line',
  options: [{ name: 'from-line', takes: 'N', about: 'resume from this line of the input' }],
  takes: { min: 1, max: 2 },
  details: [
    'A line: {"id":"123","op":"upsert","text":"title and description","attributes":{"price":990},"was":{…}}; only id is required.',
    'When it ends early, it prints the command that resumes it. Exit status 1: some lines were refused.',
  ],
  run: async (context) => {
    const { args, input, output } = context;
    const [domain = '', file] = args.positionals;
    const fromLine = args.number('from-line', { least: 1, most: Number.MAX_SAFE_INTEGER, whole: true }) ?? 1;
    if (file !== undefined) assertReadable(file);
    const piped = file === undefined ? input?.() : undefined;
    const chunks = file === undefined ? piped : fileBytes(file, context.signal).chunks;
    if (chunks === undefined) throw new UsageError('no input: name a file');
    const { sent, sendAll, finish } = createSender(context, domain);
    try {
      await sendAll(chunks, fromLine);
    } catch (error) {
      context.signal.throwIfAborted();
      throw error;
    } finally {
      // An open pipe would keep the process from ending.
      piped?.destroy();
      finish();
      output.result({ domain, ...sent }, () => resultText(domain, sent));
      if (!sent.ended && sent.lines > 0)
        output.remark(`go on with it: ${resumeCommand('changes', KEPT, args, sent.nextLine)}`);
    }
    const { refused, lines } = sent;
    if (refused > 0) throw new NotPassed(`${countText(refused)} of ${plural(lines, 'line')} refused`, 'failed');
  },
});

function createSender({ client, clock, stderr, signal }: OperatorContext, domain: string) {
  const sent = { lines: 0, taken: 0, refused: 0, cut: 0, nextLine: 1, ended: false };
  const more = () => (sent.refused === 0 ? '' : `  ${countText(sent.refused)} refused`);
  const progress = createProgress({ label: `changes of ${domain}`, unit: 'lines', output: stderr, clock, more });

  const refuse = (line: number | undefined, detail: string): void => {
    sent.refused += 1;
    progress.note(`line ${line}: ${detail}`);
  };

  /** Faults of the connection, and a stream that is away, are waited for. */
  const call = async (batch: readonly Required<Line>[]): Promise<Omit<Taken, 'domain'>> => {
    const body = Buffer.concat(batch.flatMap(({ bytes }) => [bytes, NEWLINE]));
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await client.post<Taken>('/admin/changes', body, { query: [['domain', domain]] });
      } catch (error) {
        if (error instanceof AdminProblem && error.refused !== undefined)
          return { taken: 0, cut: 0, refused: error.refused, refusedCount: batch.length };
        const mayPass = error instanceof AdminUnreachable || (error instanceof AdminProblem && error.status === 503);
        const waitMs = WAITS_MS[attempt];
        if (!mayPass || waitMs === undefined) throw error;
        progress.remark(`${error.message}; again in ${durationText(waitMs)}`);
        await sleep(waitMs, signal);
      }
    }
  };

  const send = async (batch: readonly Required<Line>[]): Promise<void> => {
    const { taken, refused, refusedCount, cut } = await call(batch);
    for (const { line, detail } of refused) refuse(batch[line - 1]?.number, detail);
    sent.refused += refusedCount - refused.length;
    sent.taken += taken;
    sent.cut += cut;
    sent.lines += batch.length;
    sent.nextLine = (batch.at(-1)?.number ?? 0) + 1;
    progress.update(sent.lines);
  };

  const sendAll = async (chunks: AsyncIterable<Buffer>, fromLine: number): Promise<void> => {
    sent.nextLine = fromLine;
    const source = fileLines(chunks, MAX_LINE_BYTES);
    const advance = () => {
      const step = source.next();
      // It is awaited when the batch has been sent.
      step.catch(() => undefined);
      return step;
    };
    let next = advance();
    for (let isOver = false; !isOver; ) {
      const batch: Required<Line>[] = [];
      let size = 0;
      let due: Promise<undefined> | undefined;
      while (batch.length < MAX_LINES && size < MAX_BYTES) {
        const step = await (due === undefined ? next : Promise.race([next, due]));
        if (step === undefined) break;
        if (step.done === true) {
          isOver = true;
          break;
        }
        const { number, bytes } = step.value;
        next = advance();
        if (number < fromLine) continue;
        if (bytes === undefined) {
          sent.lines += 1;
          refuse(number, `it is longer than ${MAX_LINE_BYTES} bytes`);
        } else if (bytes.length > 0) {
          batch.push({ number, bytes });
          size += bytes.length + 1;
          due ??= passed(SLOW_MS, undefined, { ref: false });
        }
      }
      if (batch.length > 0) await send(batch);
    }
    sent.ended = true;
  };

  return { sendAll, finish: progress.finish, sent };
}

const NEWLINE = Buffer.from('\n');

function resultText(domain: string, sent: ReturnType<typeof createSender>['sent']): string {
  const { lines, taken, refused, cut, nextLine, ended } = sent;
  const counts = `${plural(lines, 'line')}, ${countText(taken)} taken, ${countText(refused)} refused, ${countText(cut)} cut`;
  return `${domain}: ${counts}${ended ? '' : `; ended before line ${nextLine}`}`;
}
