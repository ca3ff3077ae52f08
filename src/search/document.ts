/** One document of a catalogue, as an index takes it. */
export interface Document {
  /** 1–`MAX_ID_LENGTH` characters; unique within its domain. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Declared attributes only; `date` as `YYYY-MM-DD`. A missing one is left out of pages, filters and facets. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** In characters. A real catalogue at hand has an id of 75. */
export const MAX_ID_LENGTH = 128;
