import { quoted, type Words } from '../arguments.ts';

const KEPT = ['queries', 'from', 'max-per-second', 'top', 'reason', 'admin', 'token-file'];

/** The command that goes on with an interrupted warm-up, as a shell takes it. */
export function resumeCommand(words: Words, fromLine: number | undefined): string {
  const options = KEPT.flatMap((name) => words.texts(name).flatMap((value) => [`--${name}`, quoted(value)]));
  const line = fromLine === undefined ? [] : ['--from-line', String(fromLine)];
  return ['serpcache warm', ...words.positionals.map(quoted), ...options, ...line].join(' ');
}
