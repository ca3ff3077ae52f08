/** What is wrong with a user's catalogue, and where. The message is whole: file, line, field, fault, what is allowed. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
  readonly file: string;
  /** From 1, where the row begins; absent when no row is to blame (a missing file). */
  readonly line?: number;
  readonly field?: string;

  constructor(
    file: string,
    problem: string,
    at: { readonly line?: number; readonly field?: string } = {},
    options?: ErrorOptions,
  ) {
    const where = [
      file,
      ...(at.line === undefined ? [] : [`line ${at.line}`]),
      ...(at.field === undefined ? [] : [`field "${at.field}"`]),
    ];
    super(`${where.join(', ')}: ${problem}`, options);
    this.file = file;
    if (at.line !== undefined) this.line = at.line;
    if (at.field !== undefined) this.field = at.field;
  }
}

/** A fault of one row, before it is known where the row stands. */
export class RowFault extends Error {
  override readonly name = 'RowFault';
  readonly field?: string;

  constructor(problem: string, field?: string) {
    super(problem);
    if (field !== undefined) this.field = field;
  }
}

/** A foreign value as it may stand in a message: quoted, one line, at most 60 characters. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return typeof value === 'string' ? JSON.stringify(cut.toWellFormed()) : cut;
}

const MAX_SHOWN = 60;
