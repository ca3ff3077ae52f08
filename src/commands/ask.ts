import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';

/** One question at a terminal, one line in reply. */
export async function askAt(
  terminal: { readonly input: Readable; readonly output: Writable },
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const lines = createInterface(terminal);
  // A terminal in readline's hands gives Ctrl-C to readline; end of input is no answer either.
  const gone = new AbortController();
  lines.once('SIGINT', () => gone.abort(new Error('stopped at the question, nothing was done')));
  lines.once('close', () => gone.abort(new Error('no answer, nothing was done')));
  const either = AbortSignal.any([signal, gone.signal]);
  try {
    return await lines.question(question, { signal: either });
  } catch {
    throw either.reason;
  } finally {
    lines.close();
  }
}
