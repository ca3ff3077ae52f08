/** One document of a catalogue, as an index takes it. */
export interface Document {
  /** 1–64 characters; unique within its domain. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Declared attributes only; `date` as `YYYY-MM-DD`. A missing one is left out of pages, filters and facets. */
  readonly attributes: Readonly<Record<string, string | number>>;
}
