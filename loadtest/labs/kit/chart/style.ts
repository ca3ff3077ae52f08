import { inkStyle } from './look.ts';

/** What charts have beyond the palette. What is written lies on a rim of the ground, so that no line crosses a letter. */
export const CHART_STYLE = `
${inkStyle()}
svg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,sans-serif}
.paper{fill:var(--ground)}
.heading{font-size:16px;font-weight:600;fill:var(--ink)}
.entry{font-size:13px;fill:var(--ink)}
.place,.tick{font-size:12px;fill:var(--ink);font-variant-numeric:tabular-nums}
.place{text-anchor:middle}
.tilted,.tick{text-anchor:end}
.tick{fill:var(--soft)}
.across{font-size:12.5px;fill:var(--soft);text-anchor:middle}
.nothing{font-size:14px;fill:var(--soft);text-anchor:middle}
.grid{stroke:var(--line)}
.base{stroke:var(--soft)}
.bar{fill:var(--own)}
.stripes{stroke:var(--ground);stroke-dasharray:1.6 4.4;stroke-dashoffset:-3}
.bar.hollow{fill:var(--ground);stroke:var(--own);stroke-width:1.6;stroke-dasharray:4 2.5}
.line{fill:none;stroke:var(--own);stroke-width:2;stroke-linejoin:round}
.line.dashed{stroke-width:1.6;stroke-dasharray:5 4}
.point{fill:var(--own);stroke:var(--ground);stroke-width:1}
.point.hollow{fill:var(--ground);stroke:var(--own);stroke-width:1.6}
.value{font-size:11px;fill:var(--ink);text-anchor:middle;stroke:var(--ground);stroke-width:3px;stroke-linejoin:round;paint-order:stroke;font-variant-numeric:tabular-nums}
.value.upright{text-anchor:start}
.value.within{text-anchor:end;stroke-width:4px;fill:var(--on);stroke:var(--own)}
.value.within.hollow{fill:var(--ink);stroke:var(--ground)}
`;
