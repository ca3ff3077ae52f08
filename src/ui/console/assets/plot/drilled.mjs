/**
 * @typedef {import('../data/history.mjs').Moment} Moment
 * @typedef {import('./palette.mjs').Palette} Palette
 */

/**
 * A wash behind the time in which a drill had taken something away.
 * @param {import('uplot')} plot
 * @param {readonly Moment[]} moments
 * @param {Palette} colour
 */
export function drawDrilled(plot, moments, colour) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  moments.forEach(({ atMs, look }, i) => {
    const drill = look?.control.drill;
    const before = moments[i - 1];
    if (drill === undefined || before === undefined) return;
    // Whole pixels: two that share one would show as a stripe.
    const left = Math.round(plot.valToPos(before.atMs / 1000, 'x', true));
    const right = Math.round(plot.valToPos(atMs / 1000, 'x', true));
    ctx.fillStyle = colour('drilled', drill.blackout || drill.flushed > 0 ? '38' : '18');
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  });
  ctx.restore();
}
