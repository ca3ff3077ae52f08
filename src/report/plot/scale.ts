/** From values to places on a drawing. Never leaves the drawing, whatever it is given. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly at: (value: number) => number;
}

/** An empty or reversed span is taken as one of length 1. */
export function linearScale(from: number, to: number, start: number, end: number): Scale {
  const length = to > from ? to - from : 1;
  const at = (value: number): number => {
    const share = Number.isFinite(value) ? Math.min(1, Math.max(0, (value - from) / length)) : 0;
    return start + share * (end - start);
  };
  return { from, to: from + length, at };
}
