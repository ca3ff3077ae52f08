import type { Figures } from './figures.ts';
import { MAX_LINES, type Queries } from './queries.ts';
import type { Sides } from './sides.ts';

/** Of the engine's results, unknown to the lifeboat's index: more than this is no rounding at the edge of two builds. */
const FEW_UNKNOWN = 0.01;

/** Why the figures may say less, or something else, than they seem to. */
export function warningsOf(queries: Queries, sides: Pick<Sides, 'engine' | 'lifeboat'>, figures: Figures): string[] {
  const { engine, missing, notIndexed } = figures.results;
  const [own, other] = [sides.engine.index, sides.lifeboat.index];
  const warnings: string[] = [];
  if (queries.cut) warnings.push(`only the first ${MAX_LINES} lines of the file were read`);
  if (own !== undefined && own.build === other?.build)
    warnings.push('both sides are the same index: of course they agree');
  if (engine > 0 && notIndexed === engine) {
    const ids =
      "are its ids the engine's (for sphinx and manticore the setting idAttribute, doc_id with sphinx-source)?";
    warnings.push(`none of the engine's ${engine} results is in the lifeboat's index; ${ids}`);
  } else if (notIndexed > FEW_UNKNOWN * engine) {
    const share = Math.round((100 * notIndexed) / missing);
    const why = 'it is older than the engine, or of another catalogue; build it anew and measure again';
    warnings.push(`${share} % of the results that the lifeboat lacks are not in its index: ${why}`);
  }
  return warnings;
}
