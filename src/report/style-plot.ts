/** The plots. What is drawn keeps its thickness and its dashes however far it is stretched. */
export const PLOT_STYLE = `
.plot{margin:1.4rem 0;min-width:0}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));gap:0 2rem}
.canvas{display:grid;grid-template-columns:62px minmax(0,1fr);margin-top:.4rem}
.values text,.time,.name,.nothing{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
.values text{text-anchor:end}
.drawing{display:block;overflow:visible}
.defined{position:absolute}
.time{text-anchor:middle}.time.at-start{text-anchor:start}.time.at-end{text-anchor:end}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;margin:.2rem 0 0;padding:0;list-style:none;font-size:.8125rem}
.legend li{display:inline-flex;align-items:center;gap:.4rem}
.swatch{flex:none;overflow:visible}
.grid{stroke:var(--line)}
.base{stroke:var(--soft)}
.band{opacity:.55}
.phase-baseline,.phase-after{fill:var(--calm)}
.phase-stage-even{fill:var(--stage)}
.phase-stage-odd{fill:var(--stage-odd)}
.phase-hold{fill:var(--hold)}
.phase-recovery{fill:var(--recovery)}
.band-name{fill:var(--ink);text-anchor:middle;font-size:11.5px}
.nothing{text-anchor:middle;font-size:14px}
.line{fill:none;stroke:var(--own);stroke-width:1.6;stroke-linejoin:round;vector-effect:non-scaling-stroke}
.spread{fill:var(--own);fill-opacity:.24}
.line.flushed{stroke-width:2.4}
.line.control{stroke-width:1.2}
.line.past{stroke-width:1.4;stroke-dasharray:5 4}
.line.control.past{stroke-dasharray:1.5 3}
.line.ceiling{stroke-dasharray:9 4}
.line.limit{stroke-dasharray:2 3}
.line.queued{stroke-dasharray:4 2}
.line.p50{stroke-dasharray:7 3}
.line.guard-limit{--own:var(--line-broken);stroke-dasharray:9 4}
.line.failed{--own:var(--line-broken);stroke-width:2;stroke-dasharray:2 2}
.spread.failed{--own:var(--line-broken)}
.line.open{--own:var(--line-broken);stroke-width:7}
.area{stroke:var(--ground);stroke-width:.6;vector-effect:non-scaling-stroke}
.name{text-anchor:middle;font-weight:600}
.moment line{stroke:var(--own);stroke-width:1.4}
.moment path{fill:var(--own);stroke:var(--ground);stroke-width:1}
.moment.broken path,.moment.noted path{fill:none;stroke:var(--own);stroke-width:2.4}
.moment.noted line{stroke-dasharray:3 3}
.moment.recovered line{stroke-dasharray:1 4}
@media screen and (max-width:51.99rem){.wide-only{display:none}}
@media print{.wide-only{display:none}.drawing,.defined,.swatch{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;
