/**
 * - `missing`: no index file. `incompatible`: not an index, of another schema, or built for other attributes.
 * - `invalid-document`: a document that cannot be indexed; `row` counts from 1.
 * - `failed`: the file system refused, or the build was aborted.
 */
export type IndexErrorCode = 'missing' | 'incompatible' | 'invalid-document' | 'failed';

/** An index that cannot be opened or built. The message names the file and says what to do. */
export class IndexError extends Error {
  override readonly name = 'IndexError';
  readonly code: IndexErrorCode;
  readonly file: string;
  /** Which document, counted from 1, for `invalid-document`. */
  readonly row: number | undefined;

  constructor(code: IndexErrorCode, file: string, message: string, options?: ErrorOptions & { readonly row?: number }) {
    super(message, options);
    this.code = code;
    this.file = file;
    this.row = options?.row;
  }
}
