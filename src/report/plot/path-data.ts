/** [x, y] in units of the frame. */
export type Place = readonly [number, number];

/** A polyline as SVG path data, in steps relative to the place before: half as long as absolute ones. */
export function pathData(places: readonly Place[]): string {
  let [atX, atY] = [0, 0];
  return places
    .map(([x, y], i) => {
      // Steps of rounded places, so that rounding does not add up along the line.
      const [toX, toY] = [Math.round(x * 10), Math.round(y * 10)];
      const [dx, dy] = [toX - atX, toY - atY];
      [atX, atY] = [toX, toY];
      if (i === 0) return `M${toX / 10} ${toY / 10}`;
      if (dy === 0) return `h${dx / 10}`;
      return dx === 0 ? `v${dy / 10}` : `l${dx / 10}${dy < 0 ? '' : ' '}${dy / 10}`;
    })
    .join('');
}
