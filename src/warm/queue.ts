/** The queries of one warm-up that are not begun yet. Bounded by whoever adds. */
export interface WarmQueue {
  readonly add: (lines: readonly string[]) => void;
  /** Once more, but not before then. */
  readonly addAgain: (query: Query, dueMs: number) => void;
  readonly take: (nowMs: number) => Query | undefined;
  /** Until one can be taken; undefined: there is none. */
  readonly dueInMs: (nowMs: number) => number | undefined;
  readonly clear: () => void;
}

export interface Query {
  /** Of all the warm-up was given: 0, 1, … */
  readonly place: number;
  /** Undefined: too long for a search. */
  readonly line: string | undefined;
  readonly isSecond: boolean;
}

/** Longer than any search may be, so that the bound on queries is one on bytes too. */
const MAX_LINE_CHARACTERS = 4096;

export function createWarmQueue(): WarmQueue {
  const lines: (string | undefined)[] = [];
  let nextLine = 0;
  let nextPlace = 0;
  /** All wait equally long, so the first is due first. */
  const again: { readonly query: Query; readonly dueMs: number }[] = [];

  const takeLine = (): Query => {
    const query = { place: nextPlace, line: lines[nextLine], isSecond: false };
    nextPlace += 1;
    nextLine += 1;
    return query;
  };

  return {
    add: (given) => {
      lines.splice(0, nextLine);
      nextLine = 0;
      for (const line of given) lines.push(line.length > MAX_LINE_CHARACTERS ? undefined : line);
    },
    addAgain: (query, dueMs) => {
      again.push({ query: { ...query, isSecond: true }, dueMs });
    },
    take: (nowMs) => {
      const [first] = again;
      if (first !== undefined && first.dueMs <= nowMs) return again.shift()?.query;
      return nextLine < lines.length ? takeLine() : undefined;
    },
    dueInMs: (nowMs) => {
      if (nextLine < lines.length) return 0;
      const [first] = again;
      return first === undefined ? undefined : Math.max(0, first.dueMs - nowMs);
    },
    clear: () => {
      lines.length = 0;
      nextLine = 0;
      again.length = 0;
    },
  };
}
