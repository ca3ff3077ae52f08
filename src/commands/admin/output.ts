import type { CommandContext } from '../command.ts';

/** Where results and remarks go: a script reads one JSON value, or one per line, on standard output; a person reads text. */
export interface Output {
  readonly json: boolean;
  /** A person sits at standard error: what comes and goes may be shown there. */
  readonly watched: boolean;
  /** The outcome, once. */
  readonly result: (value: unknown, text: () => string) => void;
  /** Something of what happens, as it happens: a line for a script. Nothing for a person, who reads remarks. */
  readonly event: (value: unknown) => void;
  /** For a person, beside the result. */
  readonly remark: (text: string) => void;
}

export function createOutput(context: Pick<CommandContext, 'stdout' | 'stderr'>, asksJson: boolean): Output {
  const { stdout, stderr } = context;
  const json = asksJson || stdout.isTTY !== true;
  const line = (value: unknown): unknown => stdout.write(`${JSON.stringify(value)}\n`);
  return {
    json,
    watched: stderr.isTTY === true,
    result: (value, text) => (json ? line(value) : stdout.write(`${printable(text())}\n`)),
    event: (value) => {
      if (json) line(value);
    },
    remark: (text) => stderr.write(`${printable(text)}\n`),
  };
}

/** Queries, reasons and ids are other people's words: none of them may move the cursor or colour the terminal. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]|\p{Bidi_Control}/gu, '·');
}
