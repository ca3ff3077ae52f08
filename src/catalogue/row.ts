/** A row before it is checked: `read` throws a `RowFault` when the row is wrong. */
export interface RawRow {
  readonly line: number;
  readonly read: () => Readonly<Record<string, unknown>>;
  /** The rows after it cannot be read, so it cannot be skipped. */
  readonly fatal?: boolean;
}

/** Takes a repair or a loss of detail, in words that are equal for all rows of one kind, so that they can be counted. */
export type TakeNote = (note: string) => void;

/** A fault of a user's catalogue. The message is complete: file, line, field, fault, and what is allowed. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  /** @param at `line`: where the row begins, from 1; absent when no row is at fault (a missing file). */
  constructor(
    file: string,
    problem: string,
    at: { readonly line?: number; readonly field?: string } = {},
    options?: ErrorOptions,
  ) {
    const line = at.line === undefined ? '' : `, line ${at.line}`;
    const field = at.field === undefined ? '' : `, field "${at.field}"`;
    super(`${file}${line}${field}: ${problem}`, options);
  }
}

/** A fault of one row. Its reader adds file and line and throws a `CatalogueError`. */
export class RowFault extends Error {
  override readonly name = 'RowFault';
  readonly field?: string;

  constructor(problem: string, field?: string) {
    super(problem);
    this.field = field;
  }
}

/** A fault as a row: the reader throws it, or skips it unless it is fatal. */
export function faultyRow(line: number, fault: RowFault, fatal = false): RawRow {
  const read = (): never => {
    throw fault;
  };
  return { line, read, fatal };
}

const MAX_SHOWN = 60;

/** A user's value as a message shows it: quoted, on one line, at most 60 characters. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return typeof value === 'string' ? JSON.stringify(cut.toWellFormed()) : cut;
}

/** A sign that exports write where a number or a day is missing. */
export function isPlaceholder(value: unknown): boolean {
  return typeof value === 'string' && /^(?:#?n\/?a|null|none|nil|nan|[-–—?]+)$/i.test(value.trim());
}

/** `\N` is NULL in the exports of MySQL and PostgreSQL. */
export function isNoValue(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '' || value === '\\N';
  return value === undefined || value === null;
}

/** The result of a function, or the fault that it throws. */
export function orFault<Value>(run: () => Value): Value | RowFault {
  try {
    return run();
  } catch (error) {
    if (error instanceof RowFault) return error;
    throw error;
  }
}
